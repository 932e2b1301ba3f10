"""API routes of annotation, under /api/v1/."""

from django.urls import path

from annotation.api import beside, campaigns, corpora, people, schemes, submissions, webhooks, work
from config.api import route

# API routes of corpora, dialogues and items.

CORPORA = [
    path("corpora/", route(corpora.corpora), name="api-corpora"),
    path(
        "corpora/<str:name>/",
        route(corpora.corpus, corpora.change_corpus, corpora.delete_corpus),
        name="api-corpus",
    ),
    path("corpora/<str:name>/dialogues/", route(corpora.dialogues), name="api-dialogues"),
    path("corpora/<str:name>/left-out/", route(corpora.left_out), name="api-left-out"),
    path("corpora/<str:name>/turns/", route(corpora.turns), name="api-turns"),
    path("corpora/<str:name>/items/", route(corpora.items), name="api-items"),
    path("corpora/<str:name>/splits/", route(corpora.corpus_splits, corpora.draw_split), name="api-splits"),
    path("corpora/<str:name>/systems/", route(corpora.systems, corpora.change_families), name="api-systems"),
    path(
        "corpora/<str:name>/campaign-defaults/",
        route(campaigns.campaign_defaults),
        name="api-campaign-defaults",
    ),
    path("corpora/<str:name>/without-turns/", route(corpora.copy_dialogues), name="api-without-turns"),
    path("imports/", route(corpora.import_file), name="api-imports"),
    path("imports/<int:job>/left-out/", route(corpora.rows_left_out), name="api-rows-left-out"),
    path("imports/preview/", route(corpora.preview_import), name="api-import-preview"),
    path("dialogues/<int:pk>/", route(corpora.dialogue), name="api-dialogue"),
]


# API routes of people and of the user's own account.

PEOPLE = [
    path("groups/", route(people.groups, people.create_group), name="api-groups"),
    path("groups/<int:pk>/", route(people.group, people.change_group, people.delete_group), name="api-group"),
    path("annotators/", route(people.annotators), name="api-annotators"),
    path("annotators/<int:pk>/", route(people.annotator, people.describe_annotator), name="api-annotator"),
    path("people/", route(people.people, people.create_account), name="api-people"),
    path(
        "people/<int:pk>/",
        route(people.person, people.change_account, people.delete_person),
        name="api-person",
    ),
    path("people/<int:pk>/reset-link/", route(people.reset_link), name="api-reset-link"),
    path("invitations/", route(people.invitations, people.invite), name="api-invitations"),
    path("invitations/by-mail/", route(people.invite_by_mail), name="api-invitations-by-mail"),
    path("invitations/<int:pk>/send/", route(people.send_invitation), name="api-send-invitation"),
    path("invitations/<int:pk>/", route(people.invitation), name="api-invitation"),
    path("events/", route(people.events), name="api-events"),
    path("account/comfort/", route(people.own_comfort, people.change_comfort), name="api-comfort"),
    path("account/password/", route(people.password), name="api-password"),
    path("account/tokens/", route(people.own_tokens, people.make_token), name="api-tokens"),
    path("account/tokens/<int:pk>/", route(people.own_token), name="api-token"),
]


# API routes of schemes. Keys that are names of routes are reserved (`annotation.schemes.rules`).

SCHEMES = [
    path("schemes/", route(schemes.schemes, schemes.create), name="api-schemes"),
    path("schemes/check/", route(schemes.check), name="api-check-scheme"),
    path("schemes/preview/", route(submissions.scheme_preview), name="api-scheme-preview"),
    path("schemes/diff/", route(schemes.compare), name="api-scheme-difference"),
    path("schemes/from-corpus/", route(schemes.create_from_corpus), name="api-scheme-from-corpus"),
    path("schemes/<str:key>/", route(schemes.scheme, schemes.archive), name="api-scheme"),
    path("schemes/<str:key>/versions/", route(schemes.versions, schemes.save), name="api-scheme-versions"),
    path("schemes/<str:key>/versions/<int:number>/", route(schemes.version), name="api-scheme-version"),
]


# API routes of webhooks.

WEBHOOKS = [
    path(
        "campaigns/<int:campaign>/webhooks/",
        route(webhooks.campaign_webhooks, webhooks.add_to_campaign),
        name="api-campaign-webhooks",
    ),
    path("webhooks/", route(webhooks.webhooks, webhooks.add), name="api-webhooks"),
    path("webhooks/<int:pk>/", route(webhooks.webhook, webhooks.change, webhooks.delete), name="api-webhook"),
    path("webhooks/<int:pk>/act/", route(webhooks.webhook_act), name="api-webhook-act"),
    path("webhooks/<int:pk>/rotate/", route(webhooks.rotate_webhook), name="api-rotate-webhook"),
    path("webhooks/<int:pk>/deliveries/", route(webhooks.deliveries), name="api-webhook-deliveries"),
    path("webhooks/deliveries/<int:pk>/again/", route(webhooks.redeliver), name="api-redeliver-webhook"),
]


# API routes of campaigns and annotation.

WORK = [
    path("campaigns/changes/", route(campaigns.change_campaigns), name="api-change-campaigns"),
    path("campaigns/", route(campaigns.campaign_list, campaigns.create), name="api-campaigns"),
    path("campaigns/<int:campaign>/", route(campaigns.campaign, campaigns.change), name="api-campaign"),
    path("campaigns/<int:campaign>/copy/", route(campaigns.copy), name="api-copy-campaign"),
    path("campaigns/<int:campaign>/state/", route(campaigns.change_state), name="api-campaign-state"),
    path("campaigns/<int:campaign>/order/", route(campaigns.reorder), name="api-reorder-campaign"),
    path(
        "campaigns/<int:campaign>/batches/",
        route(campaigns.campaign_batches, campaigns.open_next_batch),
        name="api-batches-of-campaign",
    ),
    path(
        "campaigns/<int:campaign>/preview/", route(submissions.campaign_preview), name="api-campaign-preview"
    ),
    path("campaigns/<int:campaign>/members/", route(campaigns.change_members), name="api-campaign-members"),
    path(
        "campaigns/<int:campaign>/guidelines/",
        route(campaigns.set_guidelines),
        name="api-campaign-guidelines",
    ),
    path("campaigns/<int:campaign>/consent/", route(campaigns.set_consent), name="api-campaign-consent"),
    path("campaigns/<int:campaign>/rules/", route(people.rules, people.set_rules), name="api-campaign-rules"),
    path(
        "campaigns/<int:campaign>/join-links/",
        route(campaigns.join_links, campaigns.make_join_link),
        name="api-join-links",
    ),
    path("campaigns/<int:campaign>/join-links/<int:pk>/", route(campaigns.join_link), name="api-join-link"),
    path(
        "campaigns/<int:campaign>/participants/", route(campaigns.participant_list), name="api-participants"
    ),
    path(
        "campaigns/<int:campaign>/browsers/",
        route(campaigns.participant_browsers),
        name="api-participant-browsers",
    ),
    path(
        "campaigns/<int:campaign>/browsers/<int:pk>/confirm/",
        route(campaigns.confirm_browser),
        name="api-confirm-browser",
    ),
    path(
        "campaigns/<int:campaign>/browsers/<int:pk>/",
        route(campaigns.dismiss_browser),
        name="api-dismiss-browser",
    ),
    path(
        "campaigns/<int:campaign>/roles/",
        route(campaigns.roles, campaigns.give_role),
        name="api-campaign-roles",
    ),
    path("campaigns/<int:campaign>/roles/<int:pk>/", route(campaigns.role), name="api-campaign-role"),
    path("campaigns/<int:campaign>/submissions/", route(submissions.submissions), name="api-submissions"),
    path(
        "campaigns/<int:campaign>/submissions/<int:assignment>/",
        route(submissions.submission),
        name="api-submission",
    ),
    path("campaigns/<int:campaign>/held/", route(submissions.held_tasks, submissions.give), name="api-held"),
    path(
        "campaigns/<int:campaign>/held/<int:assignment>/", route(submissions.take_back), name="api-take-back"
    ),
    path("campaigns/<int:campaign>/notes/", route(beside.campaign_notes), name="api-campaign-notes"),
    path(
        "campaigns/<int:campaign>/messages/",
        route(beside.campaign_threads, beside.write),
        name="api-campaign-messages",
    ),
    path(
        "campaigns/<int:campaign>/messages/<int:thread>/",
        route(beside.campaign_thread),
        name="api-campaign-thread",
    ),
    path("work/", route(work.my_campaigns), name="api-my-campaigns"),
    path("work/submissions/", route(beside.own_submissions), name="api-own-submissions"),
    path("work/messages/", route(beside.own_threads, beside.ask), name="api-own-messages"),
    path("work/messages/<int:thread>/", route(beside.own_thread), name="api-own-thread"),
    path(
        "work/<int:campaign>/<int:assignment>/notes/",
        route(beside.own_notes, beside.note),
        name="api-own-notes",
    ),
    path("work/<int:campaign>/next/", route(work.next_task), name="api-work-next"),
    path("work/<int:campaign>/reopen/", route(work.reopen), name="api-work-reopen"),
    path("work/<int:campaign>/guidelines/", route(work.guidelines), name="api-work-guidelines"),
    path("work/<int:campaign>/accept/", route(work.accept), name="api-work-accept"),
    path("work/<int:campaign>/<int:assignment>/draft/", route(work.save_draft), name="api-work-draft"),
    path("work/<int:campaign>/<int:assignment>/submit/", route(work.submit), name="api-work-submit"),
    path("work/<int:campaign>/<int:assignment>/skip/", route(work.skip), name="api-work-skip"),
]


urlpatterns = [
    *CORPORA,
    *PEOPLE,
    *SCHEMES,
    *WORK,
    *WEBHOOKS,
]
