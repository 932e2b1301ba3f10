"""The fake model: a local OpenAI-compatible server that answers from planted truth with known errors.

It serves tests, the demo and anyone trying Concord without a key. It needs no Django; its functions are pure,
so a test can compute the exact answer that the server will give.

errors     the error model, seeded draws, and `models/` the built-in error models
requests   a request as a model sees it: quoted blocks, instruction, questions, reply form
role       the truth in a text, and one role with its errors answering one request
roles/     which role answers which prompt, in one table
serving    from a request to a response, with misbehaviours
running    HTTP on 127.0.0.1, and the program
"""
