"""The web server: an asynchronous front that reads requests, and a few threads that answer them.

A connection costs the front memory only. A thread is taken once a request is complete, so that slow
clients hold up nobody. `protocol` limits headers, `bodies` and `limits` bodies, `calling` runs Django,
`front` puts them together.
"""
