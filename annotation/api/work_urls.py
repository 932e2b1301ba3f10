"""API routes of campaigns and annotation."""

from django.urls import path

from annotation.api import batches, beside, campaign_roles, campaigns, groups, participants, submissions, work

urlpatterns = [
    path("campaigns/", campaigns.campaign_list, name="api-campaigns"),
    path("campaigns/<int:campaign>/", campaigns.campaign, name="api-campaign"),
    path("campaigns/<int:campaign>/copy/", campaigns.copy, name="api-copy-campaign"),
    path("campaigns/<int:campaign>/state/", campaigns.change_state, name="api-campaign-state"),
    path("campaigns/<int:campaign>/order/", campaigns.reorder, name="api-reorder-campaign"),
    path("campaigns/<int:campaign>/batches/", batches.campaign_batches, name="api-batches-of-campaign"),
    path("campaigns/<int:campaign>/preview/", submissions.campaign_preview, name="api-campaign-preview"),
    path("campaigns/<int:campaign>/members/", campaigns.change_members, name="api-campaign-members"),
    path("campaigns/<int:campaign>/guidelines/", campaigns.set_guidelines, name="api-campaign-guidelines"),
    path("campaigns/<int:campaign>/consent/", campaigns.set_consent, name="api-campaign-consent"),
    path("campaigns/<int:campaign>/rules/", groups.rules, name="api-campaign-rules"),
    path("campaigns/<int:campaign>/join-links/", participants.join_links, name="api-join-links"),
    path("campaigns/<int:campaign>/join-links/<int:pk>/", participants.join_link, name="api-join-link"),
    path("campaigns/<int:campaign>/participants/", participants.participant_list, name="api-participants"),
    path(
        "campaigns/<int:campaign>/browsers/",
        participants.participant_browsers,
        name="api-participant-browsers",
    ),
    path(
        "campaigns/<int:campaign>/browsers/<int:pk>/confirm/",
        participants.confirm_browser,
        name="api-confirm-browser",
    ),
    path(
        "campaigns/<int:campaign>/browsers/<int:pk>/",
        participants.dismiss_browser,
        name="api-dismiss-browser",
    ),
    path("campaigns/<int:campaign>/roles/", campaign_roles.roles, name="api-campaign-roles"),
    path("campaigns/<int:campaign>/roles/<int:pk>/", campaign_roles.role, name="api-campaign-role"),
    path("campaigns/<int:campaign>/submissions/", submissions.submissions, name="api-submissions"),
    path(
        "campaigns/<int:campaign>/submissions/<int:assignment>/",
        submissions.submission,
        name="api-submission",
    ),
    path("campaigns/<int:campaign>/held/", submissions.held, name="api-held"),
    path("campaigns/<int:campaign>/held/<int:assignment>/", submissions.take_back, name="api-take-back"),
    path("campaigns/<int:campaign>/notes/", beside.campaign_notes, name="api-campaign-notes"),
    path("campaigns/<int:campaign>/messages/", beside.campaign_threads, name="api-campaign-messages"),
    path(
        "campaigns/<int:campaign>/messages/<int:thread>/",
        beside.campaign_thread,
        name="api-campaign-thread",
    ),
    path("work/", work.my_campaigns, name="api-my-campaigns"),
    path("work/submissions/", beside.own_submissions, name="api-own-submissions"),
    path("work/messages/", beside.own_threads, name="api-own-messages"),
    path("work/messages/<int:thread>/", beside.own_thread, name="api-own-thread"),
    path("work/<int:campaign>/<int:assignment>/notes/", beside.own_notes, name="api-own-notes"),
    path("work/<int:campaign>/next/", work.next_task, name="api-work-next"),
    path("work/<int:campaign>/reopen/", work.reopen, name="api-work-reopen"),
    path("work/<int:campaign>/guidelines/", work.guidelines, name="api-work-guidelines"),
    path("work/<int:campaign>/accept/", work.accept, name="api-work-accept"),
    path("work/<int:campaign>/<int:assignment>/draft/", work.save_draft, name="api-work-draft"),
    path("work/<int:campaign>/<int:assignment>/submit/", work.submit, name="api-work-submit"),
    path("work/<int:campaign>/<int:assignment>/skip/", work.skip, name="api-work-skip"),
]
