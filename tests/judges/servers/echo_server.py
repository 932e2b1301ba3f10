"""A server that gives log-probabilities of a prompt: the completions API over a small causal model."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demo.fake_model.running import LocalServer
from demo.fake_model.serving import Response

BOS = "<s>"
TEXT = "the lake or the park, tea and cake at the lake. Next: yes, the van takes bread to the lake."


def write_model(folder: Path, *, marked: bool = False) -> str:
    """Write a causal model with random weights over byte-level tokens; return its folder.

    A character outside ASCII is several tokens. With `marked` the tokenizer puts a mark before a text.
    """
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=[BOS], initial_alphabet=sorted(alphabet), show_progress=False
    )
    tokenizer.train_from_iterator([TEXT], trainer)
    if marked:
        mark = (BOS, tokenizer.token_to_id(BOS))
        tokenizer.post_processor = processors.TemplateProcessing(f"{BOS} $A", special_tokens=[mark])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BOS, model_max_length=512)
    fast.save_pretrained(folder)
    torch.manual_seed(7)
    config = GPT2Config(
        vocab_size=len(fast), n_positions=512, n_embd=16, n_layer=2, n_head=2, initializer_range=0.5
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return str(folder)


class EchoServer:
    """Context manager of a server over a model's folder. `mode` may change while it runs: `good`, `chat`
    (there are no completions), `generated` (log-probabilities of what it writes alone) or a status.

    `arrivals` counts prompts, `bodies` holds the requests.
    """

    def __init__(self, folder: str, *, delay: float = 0.0) -> None:
        from judges.metrics.kit.models import load_causal

        self.folder = folder
        self.model = load_causal(folder)
        self.mode, self.delay = "good", delay
        self.arrivals: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = LocalServer(self._respond)

    @property
    def url(self) -> str:
        """Base URL."""
        return self._server.url

    def __enter__(self) -> EchoServer:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    def _respond(self, method: str, path: str, body: Any, _headers: Mapping[str, str]) -> Response:
        if method != "POST" or not path.endswith("/v1/completions") or self.mode == "chat":
            return self._failure(404, f"there is no {path} here")
        with self._lock:
            self.arrivals[body["prompt"]] += 1
            self.bodies.append(body)
        time.sleep(self.delay)
        if self.mode.isdigit():
            return self._failure(int(self.mode), "busy")
        with self._lock:
            return Response(200, json.dumps(self.completion(body)).encode(), {})

    def _failure(self, status: int, message: str) -> Response:
        return Response(status, json.dumps({"error": {"message": message, "type": "error"}}).encode(), {})

    def completion(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the completion of a request, in the form in which vLLM writes it."""
        import torch

        assert (body["max_tokens"], body["echo"], body["logprobs"]) == (1, True, 1)
        tokenizer = self.model.tokenizer
        ids = tokenizer(body["prompt"]).input_ids
        logits: Any = self.model.forward(input_ids=torch.tensor([ids])).logits[0]
        rows = torch.log_softmax(logits.double(), dim=-1)
        written = int(rows[-1].argmax())
        values = [None, *(float(rows[place, token]) for place, token in enumerate([*ids[1:], written]))]
        texts = [tokenizer.decode([token]) for token in [*ids, written]]
        offsets = [sum(map(len, texts[:place])) for place in range(len(texts))]
        cut = len(ids) if self.mode == "generated" else 0
        logprobs = {"tokens": texts, "token_logprobs": values, "text_offset": offsets}
        choice = {
            "index": 0,
            "text": body["prompt"] + texts[-1],
            "logprobs": {name: row[cut:] for name, row in logprobs.items()},
            "finish_reason": "length",
        }
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1, "total_tokens": len(ids) + 1}
        return {"object": "text_completion", "choices": [choice], "usage": usage}
