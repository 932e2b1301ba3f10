"""Entries of collecting in the core's tables."""

ENTRIES: dict[str, list[str]] = {
    "schemes": ["suites.collecting.schemes:SCHEMES"],
    "campaign_forms": ["suites.collecting.chat_plans:FORMS"],
    "sweeps": ["suites.collecting.chat_actions:sweep"],
}
