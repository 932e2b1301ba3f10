"""A script as a file that is sent: written whole first, so that what is refused is told before."""

from __future__ import annotations

import base64
import tempfile
from contextlib import ExitStack

from django.contrib.auth.models import User
from django.http import FileResponse

from annotation.models import Dialogue
from annotation.script_editing.leaving import Wanted, told_too_long, write
from config.models import Event

MEDIA = "application/x-ndjson"


def answer(*, dialogue: Dialogue, wanted: Wanted, by: User) -> FileResponse:
    """Return the HTTP answer that sends a script, and log it. Raises ScriptRefused.

    `Concord-Warning` tells where the line is too long to be imported.
    """
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile())
        left = write(file, [dialogue], wanted)
        file.seek(0)
        stack.pop_all()
    answer = FileResponse(
        file, content_type=MEDIA, as_attachment=True, filename=f"script-{dialogue.pk}.jsonl"
    )
    answer["Content-Length"] = str(left.bytes)
    answer["Content-Encoding"] = "identity"  # compressing on the way would take the length away
    answer["Repr-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(left.sha256)).decode()}:"
    if left.too_long:
        answer["Concord-Warning"] = told_too_long(left).partition(": ")[2]
    subject = f"script {dialogue.key} of {dialogue.corpus.name}"[:300]
    detail = {"sha256": left.sha256, "continuations": wanted.continuations}
    Event.objects.create(by=by, verb="export script", subject=subject, detail=detail)
    return answer
