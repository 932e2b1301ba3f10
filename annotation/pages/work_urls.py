"""Addresses of the annotator's work and of campaigns."""

from django.urls import path

from annotation.pages import (
    beside,
    campaign_roles,
    campaign_rules,
    campaigns,
    messages,
    my_work,
    participants,
    previews,
    submissions,
    work,
)

urlpatterns = [
    path("my/", my_work.my_campaigns, name="my-campaigns"),
    path("my/submissions/", my_work.my_submissions, name="my-submissions"),
    path("my/messages/", messages.my_messages, name="my-messages"),
    path("my/messages/<int:thread>/", messages.answer_message, name="answer-message"),
    path("work/<int:campaign>/messages/", messages.ask_researcher, name="ask-researcher"),
    path("work/<int:campaign>/messages/<int:thread>/", beside.answer, name="work-answer"),
    path("work/<int:campaign>/<int:assignment>/note/", beside.note, name="work-note"),
    path("work/<int:campaign>/<int:assignment>/ask/", beside.ask, name="work-ask"),
    path("work/<int:campaign>/", work.work, name="work"),
    path("work/<int:campaign>/next/", work.next_task, name="work-next"),
    path("work/<int:campaign>/reopen/", work.reopen, name="work-reopen"),
    path("work/<int:campaign>/guidelines/", work.guidelines, name="work-guidelines"),
    path("work/<int:campaign>/accept/", work.accept, name="work-accept"),
    path("work/<int:campaign>/<int:assignment>/", work.work_task, name="work-task"),
    path("work/<int:campaign>/<int:assignment>/draft/", work.save_draft, name="work-draft"),
    path("work/<int:campaign>/<int:assignment>/submit/", work.submit, name="work-submit"),
    path("work/<int:campaign>/<int:assignment>/skip/", work.skip, name="work-skip"),
    path("campaigns/", campaigns.campaign_list, name="campaigns"),
    path("campaigns/new/", campaigns.new_campaign, name="new-campaign"),
    path("campaigns/<int:campaign>/", campaigns.campaign, name="campaign"),
    path("campaigns/<int:campaign>/preview/", previews.campaign_preview, name="campaign-preview"),
    path(
        "campaigns/<int:campaign>/preview/<int:number>/",
        previews.campaign_preview_task,
        name="campaign-preview-task",
    ),
    path("campaigns/<int:campaign>/edit/", campaigns.edit_campaign, name="edit-campaign"),
    path("campaigns/<int:campaign>/copy/", campaigns.copy_campaign, name="copy-campaign"),
    path("campaigns/<int:campaign>/state/", campaigns.change_state, name="campaign-state"),
    path("campaigns/<int:campaign>/order/", campaigns.reorder, name="reorder-campaign"),
    path("campaigns/<int:campaign>/batches/", campaigns.open_batch, name="open-batch"),
    path("campaigns/<int:campaign>/members/", campaigns.change_members, name="campaign-members"),
    path("campaigns/<int:campaign>/rules/", campaign_rules.campaign_rules, name="campaign-rules"),
    path("campaigns/<int:campaign>/participants/", participants.participant_list, name="participants"),
    path(
        "campaigns/<int:campaign>/participants.csv", participants.participants_file, name="participants-file"
    ),
    path("campaigns/<int:campaign>/roles/", campaign_roles.change_roles, name="campaign-roles"),
    path("campaigns/<int:campaign>/submissions/", submissions.submissions, name="submissions"),
    path("campaigns/<int:campaign>/held/", submissions.held, name="held"),
    path("campaigns/<int:campaign>/notes/", submissions.campaign_notes, name="campaign-notes"),
    path(
        "campaigns/<int:campaign>/notes.<str:form>",
        submissions.campaign_notes_file,
        name="campaign-notes-file",
    ),
    path("campaigns/<int:campaign>/messages/", messages.campaign_messages, name="campaign-messages"),
    path("campaigns/<int:campaign>/messages/<int:thread>/", messages.campaign_thread, name="campaign-thread"),
    path("campaigns/<int:campaign>/guidelines/", campaigns.set_guidelines, name="campaign-guidelines"),
    path("campaigns/<int:campaign>/consent/", campaigns.set_consent, name="campaign-consent"),
]
