"""Addresses of people, of one's own account, and of getting in."""

from django.urls import path

from annotation.pages import account, audit, entering, groups, my_work, people

urlpatterns = [
    path("sign-in/", entering.SignIn.as_view(), name="login"),
    path("sign-in/with/", entering.begin, name="sign-in-with"),
    path("sign-in/return/", entering.come_back, name="sign-in-return"),
    path("sign-out/", entering.SignOut.as_view(), name="logout"),
    path("link/<str:token>/", entering.use_link, name="use-link"),
    path("join/<str:key>/", entering.join, name="join"),
    path("account/", account.account, name="account"),
    path("account/comfort/", my_work.settings, name="comfort"),
    path("account/password/", account.password, name="password"),
    path("account/token/", account.make_token, name="make-token"),
    path("account/token/<int:pk>/revoke/", account.revoke_token, name="revoke-token"),
    path("groups/", groups.group_list, name="groups"),
    path("groups/add/", groups.add_group, name="add-group"),
    path("groups/<int:pk>/", groups.group, name="group"),
    path("groups/people/<int:pk>/", groups.described_person, name="described-person"),
    path("people/", people.people, name="people"),
    path("people/add/", people.add_person, name="add-person"),
    path("people/invite/", people.invite, name="invite-person"),
    path("people/invitation/<int:pk>/send/", people.send_invitation, name="send-invitation"),
    path("people/invitation/<int:pk>/withdraw/", people.withdraw_invitation, name="withdraw-invitation"),
    path("people/log/", audit.log, name="audit-log"),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/<int:pk>/role/", people.change_role, name="person-role"),
    path("people/<int:pk>/email/", people.change_email, name="person-email"),
    path("people/<int:pk>/state/", people.change_state, name="person-state"),
    path("people/<int:pk>/reset-link/", people.reset_link, name="reset-link"),
    path("people/<int:pk>/delete/", people.delete_person, name="delete-person"),
]
