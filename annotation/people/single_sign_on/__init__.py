"""Single sign-on: who somebody is, an OpenID Connect provider says; which account is theirs, Concord does.

`provider` finds the provider's addresses, `exchange` asks it and checks what it answers, `entering` finds or
makes the account.
"""
