"""Tiny models built on the spot, for metrics that otherwise need a model from a hub.

Their weights are zero, so that every next token is equally likely and every answer can be computed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

WORDS = ["yes", "no", "Yes", "No", "a", "b", "c", "d", "e", "f", "hello", "there"]
SPECIAL = ["<pad>", "<unk>", "</s>", "<|endoftext|>", "[CLS]", "[SEP]"]
SIZE = len(WORDS) + len(SPECIAL)


def _tokenizer(folder: Path, template: str = "", words: Sequence[str] = WORDS, **special: str) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace, WhitespaceSplit
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    places = {word: index for index, word in enumerate([*SPECIAL, *words])}
    made = Tokenizer(WordLevel(places, unk_token="<unk>"))
    made.pre_tokenizer = WhitespaceSplit() if "eos_token" in special else Whitespace()
    if template:
        ends = [(name, places[name]) for name in ("[CLS]", "[SEP]")]
        made.post_processor = TemplateProcessing(
            template, pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ends
        )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", pad_token="<pad>", model_max_length=64, **special
    )
    fast.save_pretrained(folder)


def _save(model, folder: Path) -> str:
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    model.save_pretrained(folder)
    return str(folder)


def causal(folder: Path, shares: dict[str, float] | None = None) -> str:
    """Build a causal language model to which every token is equally likely; return its folder.

    With `shares` these words have those probabilities after any text, and the other tokens share the rest.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    _tokenizer(folder, eos_token="<|endoftext|>")
    config = GPT2Config(vocab_size=SIZE, n_positions=64, n_embd=8, n_layer=1, n_head=1)
    name = _save(GPT2LMHeadModel(config), folder)
    if shares is None:
        return name
    model = GPT2LMHeadModel.from_pretrained(name)
    rest = (1 - sum(shares.values())) / (SIZE - len(shares))
    chances = [shares.get(word, rest) for word in SPECIAL + WORDS]
    with torch.no_grad():
        model.transformer.ln_f.bias[0] = 1.0
        model.transformer.wte.weight[:, 0] = torch.tensor(chances).log()
    model.save_pretrained(folder)
    return name


def classifier(folder: Path, labels: tuple[str, ...]) -> str:
    """Build a classifier that always gives its last label; with one label, a regressor that gives 0.25."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    _tokenizer(folder, "[CLS] $A [SEP]", cls_token="[CLS]", sep_token="[SEP]")
    config = BertConfig(
        vocab_size=SIZE,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=64,
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
    )
    name = _save(BertForSequenceClassification(config), folder)
    model = BertForSequenceClassification.from_pretrained(name)
    with torch.no_grad():
        model.classifier.bias[-1] = 0.25
    model.save_pretrained(folder)
    return name


def encoder(folder: Path) -> str:
    """Build an encoder whose layer 0 gives each word a unique vector: equal words match, others do not."""
    import torch
    from transformers import BertConfig, BertModel

    _tokenizer(folder, "[CLS] $A [SEP]", cls_token="[CLS]", sep_token="[SEP]")
    config = BertConfig(
        vocab_size=SIZE,
        hidden_size=2 * SIZE,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=64,
    )
    name = _save(BertModel(config), folder)
    model = BertModel.from_pretrained(name)
    own = torch.eye(SIZE)
    with torch.no_grad():
        # A one and a minus one each, so that subtracting the mean leaves words at right angles.
        model.embeddings.word_embeddings.weight.copy_(torch.cat([own, -own], dim=1))
        model.embeddings.LayerNorm.weight.fill_(1.0)
    model.save_pretrained(folder)
    return name


def seq2seq(folder: Path) -> str:
    """Build an encoder-decoder to which Yes and No are equally likely."""
    from transformers import T5Config, T5ForConditionalGeneration

    _tokenizer(folder, eos_token="</s>")
    config = T5Config(
        vocab_size=SIZE, d_model=8, d_kv=8, d_ff=8, num_layers=1, num_heads=1, decoder_start_token_id=0
    )
    return _save(T5ForConditionalGeneration(config), folder)


def bart(folder: Path, shares: dict[str, float] | None = None, *, marked: bool = False) -> str:
    """Build an encoder-decoder with random weights; with `shares` these words have fixed probabilities.

    With `marked` the tokenizer puts [CLS] and [SEP] around a text, as that of BART does with its own marks.
    """
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    template = "[CLS] $A [SEP]" if marked else ""
    _tokenizer(
        folder, template, eos_token="</s>", **({"cls_token": "[CLS]", "sep_token": "[SEP]"} if marked else {})
    )
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=SIZE,
        d_model=8,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=1,
        decoder_attention_heads=1,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        init_std=1.0,
    )
    model = BartForConditionalGeneration(config)
    if shares is None:
        model.save_pretrained(folder)
        return str(folder)
    name = _save(model, folder)
    model = BartForConditionalGeneration.from_pretrained(name)
    rest = (1 - sum(shares.values())) / (SIZE - len(shares))
    model.final_logits_bias[0] = torch.tensor([shares.get(word, rest) for word in SPECIAL + WORDS]).log()
    model.save_pretrained(folder)
    return name


def of_acts(folder: Path, acts: Sequence[str], shares: dict[str, float]) -> str:
    """Build a causal model over acts as tokens; `shares` gives probabilities, the others share the rest."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    _tokenizer(folder, words=acts, eos_token="<|endoftext|>")
    tokens = [*SPECIAL, *acts]
    config = GPT2Config(vocab_size=len(tokens), n_positions=16, n_embd=8, n_layer=1, n_head=1)
    model = GPT2LMHeadModel.from_pretrained(_save(GPT2LMHeadModel(config), folder))
    rest = (1 - sum(shares.values())) / (len(tokens) - len(shares))
    with torch.no_grad():
        model.transformer.ln_f.bias[0] = 1.0
        model.transformer.wte.weight[:, 0] = torch.tensor([shares.get(one, rest) for one in tokens]).log()
    model.save_pretrained(folder)
    return str(folder)
