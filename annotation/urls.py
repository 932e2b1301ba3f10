"""Addresses of the annotation pages."""

from django.urls import path

from annotation.pages import (
    campaigns,
    corpora,
    imports,
    messages,
    my_work,
    participants,
    people,
    scheme_editor,
    schemes,
    sign_in,
    submissions,
    webhooks,
    work,
)

# Addresses of the corpus pages.

CORPORA = [
    path("corpora/", corpora.corpora, name="corpora"),
    path("corpora/first-steps/hide/", corpora.hide_first_steps, name="hide-first-steps"),
    path("corpora/import/new/", imports.import_corpus, name="import-corpus"),
    path("corpora/import/<int:pk>/", imports.upload, name="upload"),
    path("corpora/import/<int:pk>/left-out/", imports.rows_left_out, name="rows-left-out"),
    path("corpora/import/<int:pk>/mapping/", imports.load_mapping, name="load-mapping"),
    path("corpora/import/<int:pk>/cancel/", imports.cancel_upload, name="cancel-upload"),
    path("corpora/import/<int:pk>/resume/", imports.resume_upload, name="resume-upload"),
    path("corpora/dialogue/<int:pk>/", corpora.dialogue, name="dialogue"),
    path("corpora/<str:name>/dialogues/", corpora.dialogues, name="corpus-dialogues"),
    path("corpora/<str:name>/left-out/", corpora.left_out, name="left-out"),
    path("corpora/<str:name>/settings/", corpora.settings, name="corpus-settings"),
    path("corpora/<str:name>/split/", corpora.draw_split, name="draw-split"),
    path("corpora/<str:name>/families/", corpora.change_families, name="change-families"),
    path("corpora/<str:name>/marks/", corpora.change_marks, name="change-marks"),
    path("corpora/<str:name>/without-turns/", corpora.copy, name="copy-without-turns"),
    path("corpora/<str:name>/delete/", corpora.delete_corpus, name="delete-corpus"),
]


# Addresses of people, of the viewer's account, and of signing in.

PEOPLE = [
    path("sign-in/", sign_in.SignIn.as_view(), name="login"),
    path("sign-in/with/", sign_in.begin, name="sign-in-with"),
    path("sign-in/return/", sign_in.come_back, name="sign-in-return"),
    path("sign-out/", sign_in.SignOut.as_view(), name="logout"),
    path("link/<str:token>/", sign_in.use_link, name="use-link"),
    path("join/<str:key>/", sign_in.join, name="join"),
    path("account/", people.account, name="account"),
    path("account/comfort/", my_work.settings, name="comfort"),
    path("account/password/", people.password, name="password"),
    path("account/time-zone/", people.time_zone, name="time-zone"),
    path("account/token/", people.make_token, name="make-token"),
    path("account/token/<int:pk>/revoke/", people.revoke_token, name="revoke-token"),
    path("groups/", people.group_list, name="groups"),
    path("groups/add/", people.add_group, name="add-group"),
    path("groups/<int:pk>/", people.group, name="group"),
    path("groups/people/<int:pk>/", people.described_person, name="described-person"),
    path("people/", people.people, name="people"),
    path("people/add/", people.add_person, name="add-person"),
    path("people/invite/", people.invite, name="invite-person"),
    path("people/invitation/<int:pk>/send/", people.send_invitation, name="send-invitation"),
    path("people/invitation/<int:pk>/withdraw/", people.withdraw_invitation, name="withdraw-invitation"),
    path("people/log/", people.log, name="audit-log"),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/<int:pk>/role/", people.change_role, name="person-role"),
    path("people/<int:pk>/email/", people.change_email, name="person-email"),
    path("people/<int:pk>/state/", people.change_state, name="person-state"),
    path("people/<int:pk>/reset-link/", people.reset_link, name="reset-link"),
    path("people/<int:pk>/delete/", people.delete_person, name="delete-person"),
]


# Addresses of schemes. A scheme's key has no hyphen, so addresses with a hyphen never match a key.

SCHEMES = [
    path("schemes/", schemes.scheme_list, name="schemes"),
    path("schemes/new-scheme/", scheme_editor.new_scheme, name="new-scheme"),
    path("schemes/from-corpus/", schemes.corpus_questions, name="scheme-from-corpus"),
    path("schemes/editor-preview/", scheme_editor.scheme_preview, name="scheme-preview"),
    path("schemes/<str:key>/", schemes.scheme_page, name="scheme"),
    path("schemes/<str:key>/edit/", scheme_editor.edit_scheme, name="edit-scheme"),
    path("schemes/<str:key>/screen/", schemes.scheme_screen, name="scheme-screen"),
    path("schemes/<str:key>/archive/", schemes.archive_scheme, name="archive-scheme"),
    path("schemes/<str:key>/export/<str:form>/", schemes.export_scheme, name="export-scheme"),
]


# Addresses of webhooks.

WEBHOOKS = [
    path("campaigns/<int:campaign>/webhooks/", webhooks.campaign_webhooks, name="campaign-webhooks"),
    path("webhooks/", webhooks.webhooks, name="webhooks"),
    path("webhooks/<int:pk>/", webhooks.webhook, name="webhook"),
    path("webhooks/<int:pk>/act/", webhooks.webhook_act, name="webhook-act"),
    path("webhooks/deliveries/<int:pk>/again/", webhooks.redeliver_webhook, name="redeliver-webhook"),
]


# Addresses of the annotator's work and of campaigns.

WORK = [
    path("my/", my_work.my_campaigns, name="my-campaigns"),
    path("my/submissions/", my_work.my_submissions, name="my-submissions"),
    path("my/messages/", messages.my_messages, name="my-messages"),
    path("my/messages/<int:thread>/", messages.answer_message, name="answer-message"),
    path("work/<int:campaign>/messages/", messages.ask_researcher, name="ask-researcher"),
    path("work/<int:campaign>/messages/<int:thread>/", work.answer, name="work-answer"),
    path("work/<int:campaign>/<int:assignment>/note/", work.note, name="work-note"),
    path("work/<int:campaign>/<int:assignment>/ask/", work.ask, name="work-ask"),
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
    path("campaigns/changes/", campaigns.change_campaigns, name="change-campaigns"),
    path("campaigns/new/", campaigns.new_campaign, name="new-campaign"),
    path("campaigns/<int:campaign>/", campaigns.campaign, name="campaign"),
    path("campaigns/<int:campaign>/preview/", work.campaign_preview, name="campaign-preview"),
    path(
        "campaigns/<int:campaign>/preview/<int:number>/",
        work.campaign_preview_task,
        name="campaign-preview-task",
    ),
    path("campaigns/<int:campaign>/edit/", campaigns.edit_campaign, name="edit-campaign"),
    path("campaigns/<int:campaign>/copy/", campaigns.copy_campaign, name="copy-campaign"),
    path("campaigns/<int:campaign>/state/", campaigns.change_state, name="campaign-state"),
    path("campaigns/<int:campaign>/order/", campaigns.reorder, name="reorder-campaign"),
    path("campaigns/<int:campaign>/batches/", campaigns.open_batch, name="open-batch"),
    path("campaigns/<int:campaign>/members/", campaigns.change_members, name="campaign-members"),
    path("campaigns/<int:campaign>/rules/", campaigns.rules_page, name="campaign-rules"),
    path("campaigns/<int:campaign>/participants/", participants.participant_list, name="participants"),
    path(
        "campaigns/<int:campaign>/participants.csv", participants.participants_file, name="participants-file"
    ),
    path("campaigns/<int:campaign>/roles/", campaigns.change_roles, name="campaign-roles"),
    path("campaigns/<int:campaign>/submissions/", submissions.submissions, name="submissions"),
    path("campaigns/<int:campaign>/held/", submissions.held_tasks, name="held"),
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


urlpatterns = [
    *CORPORA,
    *PEOPLE,
    *SCHEMES,
    *WORK,
    *WEBHOOKS,
]
