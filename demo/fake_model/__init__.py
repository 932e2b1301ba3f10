"""The fake model: a local OpenAI-compatible server that answers from planted truth with known errors.

Tests, the demo and whoever tries Concord without a key use this one. It needs no Django; its functions are
pure, so a test can compute the very answer that the server will give.

draws      every chance is a number that a seed and texts determine
reading    a request as a model sees it: quoted blocks, instruction, reply form
truth      what a text says about itself in braces
errors     the error model, and `models/` the built-in ones
sampler    one role with its errors answering one request
roles/     who answers which prompt, in one table
serving    from a request to a response, with misbehaviours
server     HTTP on 127.0.0.1
"""
