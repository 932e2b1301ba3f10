"""What a conversation was to keep to: one yes-or-no question per constraint, about the whole of it.

The metric `constraints` answers the first five by counting. Whether stances were kept takes a reader: a
person, or a judge of the protocol `rubric` over this scheme.
"""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition

KEPT, VIOLATED = 1, 0
COUNTED = {
    "listed_speakers": "Do only the listed speakers speak?",
    "turn_count": "Does it have as many turns as were asked for?",
    "everyone_speaks": "Does every listed speaker speak as often as was asked for?",
    "max_in_a_row": "Does nobody have more turns in a row than were allowed?",
    "addressee_named": "Does every turn say whom it is addressed to?",
}
"""The constraints that need no reading, with their questions."""
STANCE = "stance_kept"

GUIDELINES = """Look at the numbered turns only; what came before them is not rated.

For each constraint answer 1 where the conversation keeps it from beginning to end, and 0 where it is \
violated once or more. How good the conversation is otherwise does not count.

A stance is kept where a speaker argues throughout for what the profile says this speaker holds. Giving in \
to an argument that was made openly is no violation; holding the opposite without any such turn is one."""

SCHEME = SchemeDefinition(
    key="conversation_constraints",
    version=1,
    title="Constraints on a conversation",
    item_kind="dialogue",
    unit="item",
    one_conversation=True,
    introduction="Say of each constraint whether the conversation keeps it.",
    questions=tuple(
        QuestionDefinition(
            key=key,
            wording=wording,
            level="binary",
            values=(VIOLATED, KEPT),
            anchors={VIOLATED: "violated", KEPT: "kept"},
            positive=KEPT,
            required=False,
        )
        for key, wording in {
            **COUNTED,
            STANCE: "Does every speaker keep to the stance that was given?",
        }.items()
    ),
    guidelines=GUIDELINES,
    source="constraints as generators of whole conversations state them",
)
