"""time each step"""

import time
from demo import collecting


def timed(name):
    f = getattr(collecting, name)

    def g(*a, **k):
        t = time.time()
        c = time.process_time()
        try:
            return f(*a, **k)
        finally:
            print(f"STEP {name} {time.time() - t:.1f}s cpu {time.process_time() - c:.1f}", flush=True)

    setattr(collecting, name, g)


for n in ("cast", "chats", "respond", "rate", "judge", "check_release"):
    timed(n)
_c = collecting.studies.compute


def compute(**k):
    t = time.time()
    r = _c(**k)
    print(f"STEP study {time.time() - t:.1f}", flush=True)
    return r


collecting.studies.compute = compute
