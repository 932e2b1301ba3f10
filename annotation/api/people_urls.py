"""API routes of people and of one's own account."""

from django.urls import path

from annotation.api import account, groups, invitations, people

urlpatterns = [
    path("groups/", groups.groups, name="api-groups"),
    path("groups/<int:pk>/", groups.group, name="api-group"),
    path("annotators/", groups.annotators, name="api-annotators"),
    path("annotators/<int:pk>/", groups.annotator, name="api-annotator"),
    path("people/", people.people, name="api-people"),
    path("people/<int:pk>/", people.person, name="api-person"),
    path("people/<int:pk>/reset-link/", people.reset_link, name="api-reset-link"),
    path("invitations/", people.invitations, name="api-invitations"),
    path("invitations/by-mail/", invitations.by_mail, name="api-invitations-by-mail"),
    path("invitations/<int:pk>/send/", invitations.send, name="api-send-invitation"),
    path("invitations/<int:pk>/", people.invitation, name="api-invitation"),
    path("events/", people.events, name="api-events"),
    path("account/comfort/", account.own_comfort, name="api-comfort"),
    path("account/password/", account.password, name="api-password"),
    path("account/tokens/", account.own_tokens, name="api-tokens"),
    path("account/tokens/<int:pk>/", account.own_token, name="api-token"),
]
