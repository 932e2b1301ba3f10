"""Words in the headers of tables: what a column is called, and who answers what in a column of answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from annotation.text.table_cells import MODEL, looks_like_a_model


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, without case."""
    return frozenset(text.casefold().split())


HEADERS: dict[str, frozenset[str]] = {
    "dialogue": word_set(
        "dialogue dialog dial dlg conversation conv convo chat thread transcriptid callid ticket meeting"
        " interview episode messagetree conversationtree dialogueno dialognr 对话 会话 对话编号 会话编号"
        " gespräch gesprächsnr المحادثة رقمالمحادثة conversación"
        " conversacion diálogo dialogo conversa диалог беседа 会話 対話 대화"
    ),
    "session": word_set("session sessionid sessionno sitzung sesión 会话阶段"),
    "turn": word_set(
        "turn turns turnno turnnr turnnumber turnnum turnindex turnidx utt uttno uttnum uttidx utteranceidx"
        " utteranceindex utterancenumber utteranceno position messageindex messageno msgno msgidx msgnum"
        " messagenumber 发言序号 発話番号 発話id ターン ターン番号"
        " seq sequence sequencenumber linenumber lineno 轮次 轮 序号 句子序号 turnr beitragsnr"
        " redebeitrag turno tour ход"
    ),
    "text": word_set(
        "text texts content body utterance utt utterancetext message messagetext msg sentence turntext"
        " speech said transcript transcription fulltext spokentext spokenwords"
        " line lines quote quotation 内容 文本 话语 发言 发言内容 消息 äußerung"
        " aeusserung nachricht inhalt texto mensaje contenido enunciado mensagem conteúdo texte énoncé"
        " contenu"
        " النص الرسالة текст сообщение реплика 発話 本文 テキスト メッセージ 발화 내용 testo messaggio"
    ),
    "speaker": word_set(
        "speaker speakername speakers author authorname role from sender sendername interlocutor participant"
        " who speakerrole talker character actor party user userid username 说话人 说话者 发言人 角色 发送者"
        " sprecher sprecherin wer المتحدث المرسل absender"
        " verfasser hablante interlocutor remitente autor locuteur interlocuteur auteur expéditeur falante"
        " говорящий автор спикер 話者 発話者 화자 parlante mittente"
    ),
    "addressee": word_set("to recipient recipients addressee addressees receiver sentto spokento"),
    "time": word_set(
        "time timestamp ts datetime date createdat created createtime sentat starttime start begin"
        " endtime end"
        " startdate enddate recordeddate submittedat completedat updatedat updated tstart tend zeit"
        " zeitstempel zeitpunkt datum uhrzeit fecha hora marcatemporal horodateur heure"
        " 时间 时间戳 时间戳记 日時 タイムスタンプ время дата 타임스탬프 data"
        " submittime submissiontime accepttime assignmentstarted assignmentsubmitted"
    ),
    "rater": word_set(
        "rater annotator worker coder evaluator assessor reviewer labeler labeller ratername annotatorname"
        " respondent respondentid responseid prolificid prolificpid email emailaddress user userid"
        " username ratedby"
        " annotatedby labeledby turkid mturkid crowdworker expert raterno raternr annotatorno ridnr"
        " participantid"
        " participantno subject subjectid vp vpn"
        " 标注者 标注员 标注人 评分人 评分者 评价者 评估者 bewerter bewerterin annotatorin kodierer"
        " anotador evaluador codificador annotateur évaluateur avaliador аннотатор разметчик оценщик 評価者"
        " 평가자 emailadresse correo direccióndecorreoelectrónico adressemail"
    ),
    "judge": word_set(
        "judge judgemodel judgename evaluatormodel judgeid llmjudge autorater gradermodel grader"
    ),
    "kind": word_set("kind raterkind ratertype annotatortype"),
    "question": word_set(
        "question questionname dimension criterion criteria aspect attribute quality measure metric"
        " metricname"
        " facet rubric dim trait competency subscale indicator"
        " 维度 指标 评价维度 问题 dimensión dimension kriterium frage criterio critère"
        " критерий 観点 항목"
    ),
    "value": word_set(
        "value label labels score rating ratings answer annotation vote grade judgment judgement verdict rate"
        " points stars code response decision 评分 得分 分数 标签 打分 bewertung wertung note urteil antwort"
        " puntuación puntuacion calificación etiqueta valoración valor évaluation étiquette score"
        " оценка балл метка 評価 スコア 点数 평점 점수 nota voto punteggio"
    ),
    "key": word_set(
        "gold goldlabel goldstandard golden goldanswer groundtruth groundtruthlabel truth truelabel gt"
        " referencelabel adjudicated adjudication adjudicatedlabel correctlabel expectedlabel expected"
        " correctanswer key answerkey reference target 标准答案 参考答案 金标准"
    ),
    "item": word_set(
        "id item itemid itemno itemnr example instance sampleid hitid hit taskid task doc document docid"
        " uid uuid guid key no nr number num row rownumber 编号 题号 项目 id编号 pairid questionid"
        " promptid recordid caseid"
        " rowid exampleid datapoint unit segment nummer element ítem objet"
    ),
    "explanation": word_set(
        "explanation explanations rationale rationales reason reasons reasoning comment comments"
        " justification"
        " note notes remark remarks why feedback thought thoughts critique begründung kommentar anmerkung"
        " bemerkung comentario comentarios explicación razón justificación commentaire explication raison"
        " justificatif 理由 解释 备注 评论 说明 コメント 이유 комментарий пояснение обоснование"
    ),
    "system": word_set(
        "system model systemid modelid systemname modelname bot agent generator sys mdl 模型 系统 modell"
        " modelo"
        " modèle модель システム モデル candidate"
    ),
    "language": word_set("language lang languagecode locale sprache idioma langue 语言"),
    "prompt": word_set(
        "prompt query input instruction instructions usermessage userinput userquery userprompt userutterance"
        " userturn userquestion customermessage question human user request premise source 用户 提问 问题 问"
        " frage pregunta anfrage seekerpost"
    ),
    "response": word_set(
        "response answer output reply completion generation prediction assistant bot botresponse"
        " modelresponse"
        " systemresponse assistantresponse modeloutput aioutput generatedtext agentresponse botreply"
        " assistantmessage generatedresponse llmresponse systemoutput gptresponse chatbotresponse airesponse"
        " actualoutput hypothesis candidate candidateresponse modelanswer botanswer 回答 回复 答案"
        " antwort respuesta"
        " réponse responsepost"
    ),
    "context": word_set(
        "context dialoguehistory dialoghistory history conversationhistory chathistory dialoguecontext"
        " dialogcontext conversationcontext priorturns previousturns fullcontext 上下文 历史"
    ),
    "transcript": word_set(
        "dialogue dialog conversation transcript chat chatlog log dialoguetext conversationtext chattext"
        " turns"
        " messages fulldialogue fullconversation conversations chathistory 对话内容 对话"
    ),
    "winner": word_set(
        "winner preference preferred choice chosenresponse better betterresponse best whichisbetter"
        " overallpreference"
        " pick preferredresponse vote humanpreference 偏好 胜者"
    ),
    "derived": word_set(
        "mean avg average median std stdev sd var variance sum total min max majority majorityvote mv mode"
        " agreement consensus aggregated aggregate count length len numwords nwords wordcount tokens ntokens"
        " duration seconds durationinseconds worktimeinseconds age gender sex temperature year split fold"
        " progress finished price cost reward lifetimeapprovalrate maxassignments latency weight confidence"
        " numturns nturns nturn toptopic lat lon locationlatitude locationlongitude distributionchannel"
        " numratings nratings votes upvotes likes seed rank index idx charcount kappa alpha accuracy diff"
        " difference topic domain source dataset category genre country native education"
    ),
}
"""Words that a header of each meaning has, without case, space and signs."""

RESPONSE_LISTS = word_set("responses outputs completions candidates generations replies answers summaries")
"""Keys of lists with an object for each of several responses to the same: each is a row."""
SPEAKER_WORDS = word_set(
    "user assistant system bot human ai agent customer client therapist doctor patient operator speaker"
    " speaker1"
    " speaker2 a b seeker supporter helper wizard apprentice chatbot counselor caller interviewer participant"
    " student teacher tutor usr sys model gpt inbound outbound incoming outgoing 用户 机器人 客服"
)
OF_TEXTS = ("prompt", "response", "context", "transcript")
"""Meanings that the header of a text has without `text` at its end."""
ID_WORDS = word_set("id ids key no nr number num idx index uuid 编号")
PREFIXES = re.compile(
    r"(?P<prefix>inputs?\.|answers?\.|input:|output:|golden:|gold:|hint:|assignment:|data\.|fields\.|result\."
    r"|annotations?\.|labels?\.|ratings?\.|scores?\.|meta\.|metadata\.|info\.|responses?\.)",
    re.IGNORECASE,
)
ANSWER_PREFIXES = ("answer", "output:", "annotation", "label", "rating", "score", "result.", "response")
LONGEST_QUESTION, LONGEST_ITEM = 120, 400
"""Maximum number of characters of a question and of an item in the key of a column."""
PLURAL = re.compile(r"(?<=\w)\((?:s|es|en|n|innen)\)")
"""The end of a word that may be one or several, as in `speaker(s)`."""
NAMELESS = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?|__index_level_\d+__|index|level_0|X(\.\d+)?|\.\.\.\d+")
"""Columns that programs write for the numbers of rows."""


def is_nameless(name: str) -> bool:
    """Whether a column has no name of its own, as the index that pandas and R write."""
    return NAMELESS.fullmatch(name) is not None


CHUNK = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
NUMBER_AT_END = re.compile(r"(?:(?<![\W_])[\W_]*)?(?<!\d)(\d+)\Z")
"""The number at the end of a header, with the signs before it; each place is tried once."""
UNSPLIT = re.compile(r"chatgpt|deepseek|openai|llama|mturk|xlm|gpt", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a header, without case, with its place in the header."""

    word: str
    start: int
    end: int

    @property
    def base(self) -> str:
        """The word without the number at its end."""
        return self.word.rstrip("0123456789")

    @property
    def is_number(self) -> bool:
        return self.word.isdigit()


def tokens_of(name: str) -> list[Token]:
    """Split a header into words: at signs, and at capitals within a word."""
    return list(_tokens(name))


@lru_cache(maxsize=20_000)
def _tokens(name: str) -> tuple[Token, ...]:
    tokens = []
    for chunk in CHUNK.finditer(name):
        cuts = [0, *(cut.start() for cut in CAMEL.finditer(chunk[0])), len(chunk[0])]
        if UNSPLIT.match(chunk[0]) and len(cuts) > 2:
            cuts = [0, *(cut for cut in cuts[1:] if cut >= len(UNSPLIT.match(chunk[0])[0]))]  # type: ignore[index]
        for start, end in pairwise(cuts):
            if end > start:
                place = chunk.start() + start
                tokens.append(Token(chunk[0][start:end].casefold(), place, chunk.start() + end))
    return tuple(tokens)


def plain_name(name: str) -> str:
    """Return a header without what platforms put before it: `Input.text` and `data.text` are `text`."""
    last = name.rpartition("[].")[2].removesuffix("[]")
    prefix = PREFIXES.match(last)
    rest = last[prefix.end() :] if prefix else last
    return PLURAL.sub("", rest.strip() or last)


def is_header(name: str, meaning: str) -> bool:
    """Whether all words of a header together have a meaning: `speaker`, and not `speaker of the house`."""
    return "".join(token.word for token in tokens_of(plain_name(name))) in HEADERS[meaning]


def meanings_of(name: str) -> frozenset[str]:
    """Return all meanings that the words of a header have; those of the whole header, else of its id."""
    plain = plain_name(name)
    words = [token.word for token in tokens_of(plain)]
    folded = "".join(words)
    meanings = frozenset(meaning for meaning, names in HEADERS.items() if folded in names)
    if "text" in meanings and name.partition(".")[0].casefold() in RESPONSE_LISTS:
        return frozenset({"response"})
    if meanings or not words:
        return meanings
    stem, last = words[:-1], words[-1]
    is_id = last in ID_WORDS or (
        len(words) == 1
        and folded.endswith(("id", "nr"))
        and (len(folded) <= 4 or any(folded[:-2] in names for names in HEADERS.values()))
    )
    if not is_id:
        if "." in plain:
            return meanings_of(plain.rpartition(".")[2])
        if stem and last in ("text", "content", "body", "string"):  # `answerText` is an answer
            own = frozenset(meaning for meaning in OF_TEXTS if "".join(stem) in HEADERS[meaning])
            if own:
                return own
        if stem and last == "code":  # of a person: `participant.code`
            people = frozenset(
                meaning for meaning in ("speaker", "rater") if "".join(stem) in HEADERS[meaning]
            )
            if people:
                return people
        return frozenset(
            meaning
            for meaning in ("dialogue", "text", "speaker", "time", "rater", "explanation", "derived")
            if words[-1] in HEADERS[meaning] and meaning in ("text", "speaker", "time", "explanation")
        )
    stem_text = "".join(stem) if stem else folded[:-2]
    order = ("dialogue", "session", "turn", "rater", "judge", "speaker", "system", "question", "text")
    for meaning in order:
        if stem_text in HEADERS[meaning] or (stem and stem[-1] in HEADERS[meaning]):
            return frozenset({"turn" if meaning == "text" else meaning})
    return frozenset({"item"})


# Columns of answers: `ann1_helpful`, `helpful (Rater 2)`, `gpt4_helpful_reason`, `D3 fluent`.

PEOPLE = word_set(
    "human humans annotator annotators annot ann anno an rater raters coder worker expert crowd evaluator"
    " assessor"
    " reviewer labeler labeller person student volunteer turker user participant bewerter annotateur anotador"
    " 标注者 标注员 评分人 人工"
)
BY_HAND = word_set("manual your my")
"""Words in short headers of a person's answers, such as `manual_label`, which mean no rater in questions."""
INITIALS = re.compile(r"[rawechp]\d{1,3}")
"""Names such as r1 and a2, which are raters where several columns have them."""
JUDGES = word_set("judge judges llm ai autorater llmjudge machine model 模型")
OF_JUDGES = word_set("judges judgements judgments judgement judgment evaluations evaluators")
"""Names of dictionaries and lists with an entry of each judge."""
OWNERS = word_set("ratings annotations scores labels votes judgments judgements annotators raters workers")
"""Names of dictionaries and lists that may have an entry for each rater."""
KEYS = word_set("gold golden goldstandard groundtruth truth gt adjudicated expected oracle 标准答案 金标准")
METRICS = word_set("bleu rouge meteor bertscore perplexity ppl chrf bleurt comet rougel rouge1 rouge2")
REASONS = HEADERS["explanation"]
REMARKS = word_set(
    "comment comments note notes remark remarks feedback thought thoughts kommentar anmerkung bemerkung"
    " comentario comentarios commentaire 备注 评论 コメント комментарий"
)
"""Reasons that anybody may have written: where several raters have columns, nothing says whose they are."""
GENERIC = HEADERS["value"] | word_set(
    "class final result output overallscore human llm tag tags thumbs liked approved"
    " prediction pred predicted scores annotations evaluation evaluations judgments judgements grade grades"
)
"""Words for any answer, which tell no question from another."""
VERSIONS = re.compile(
    r"\d[\da-z]*|v\d+|o\d*|x?mini|nano|turbo|sonnet|opus|haiku|flash|pro|ultra|instruct|chat|preview|latest|large"
    r"|medium|small|it|hf|coder|reasoner|r\d|b|plus|lite|distill|thinking|vision"
)
QUALITIES = word_set(
    "helpful helpfulness fluent fluency coherent coherence coherency relevant relevance relevancy consistent"
    " consistency engaging engagingness engagement interesting interestingness specific specificity correct"
    " correctness accurate accuracy factual factuality faithful faithfulness grounded groundedness"
    " informative"
    " informativeness natural naturalness understandable understandability clear clarity empathy empathetic"
    " empathic safe safety harmless harmlessness harmful toxic toxicity overall quality humanness humanlike"
    " appropriate appropriateness usefulness useful complete completeness concise conciseness polite"
    " politeness"
    " tone diversity diverse depth likeable likability sensible sensibleness sentiment emotion stance sarcasm"
    " hate offensive offensiveness intent act creative creativity satisfaction satisfied trust honesty honest"
    " truthfulness truthful understanding knowledge style grammar grammaticality readability adequacy"
    " flexible"
    " flexibility inquisitive inquisitiveness persona maintains uses knowledgeable topical semantically error"
    " recover recovery bias biased hallucination hallucinated instruction following persuasive persuasiveness"
    " listening repetition repetitive avoidance enjoyable enjoyment agreeable valence arousal dominance"
    " present"
    " resolved success taskcompletion urgency irony humor humour funny plausibility plausible novelty"
    " 流畅度 流畅性 相关性 连贯性 有用性 准确性 一致性 质量 总体 满意度 qualität verständlichkeit flüssigkeit"
    " kohärenz relevanz gesamt hilfreich calidad fluidez coherencia utilidad qualité fluidité cohérence"
)
ITEMS = word_set(
    "item dialogue dialog conv conversation doc document video clip story sample example scenario case"
    " image task chat text summary d it stimulus vignette pair post tweet 对话"
)

TWO_RESPONSES = re.compile(
    r"(?:model[_ -]?)?(response|answer|output|completion|reply|text|conversation|summary|generation)s?"
    r"[_ -]?(a|b|1|2|left|right)(?:_text)?"
    r"|(a|b|1|2|left|right)[_ -](?:response|answer|output|text|completion)"
    r"|(chosen|rejected)(?:_response)?",
    re.IGNORECASE,
)
"""Names of the two responses of a comparison."""


@dataclass(frozen=True, slots=True)
class AnswerName:
    """What the header of a column of answers says: who answers, which question, about which item."""

    name: str
    rater: str = ""
    kind: str = ""
    question: str = ""
    item: str = ""
    is_reason: bool = False
    is_prefixed: bool = False
    is_weak: bool = False

    @property
    def is_generic(self) -> bool:
        """Whether the question is no question of its own, such as `label` or `score`."""
        return all(token.base in GENERIC or token.is_number for token in tokens_of(self.question))

    @property
    def has_quality(self) -> bool:
        """Whether the question is a usual one."""
        return any(token.base in QUALITIES for token in tokens_of(self.question))


def name_for_key(text: str, longest: int = LONGEST_QUESTION) -> str:
    """Return a name without the signs that separate names in the keys of a mapping."""
    plain = text.replace("@", " at ").replace("]", ")").replace("[", "(")
    return " ".join(plain.split())[:longest]


def answer_name(name: str) -> AnswerName:
    """Split the header of a column of answers into its rater, question and item."""
    return _by_owner(name) or _answer_name(name)


DEEPEST = 8
"""Maximum number of points in a path whose parts are read by themselves."""
OWNED = re.compile(r"([^\W\d][\w -]*)\.([^\W\d].*)", re.DOTALL)


def _by_owner(name: str) -> AnswerName | None:
    """Return what a path such as `human_ratings.clear` says, if its first part names a rater alone."""
    match = OWNED.fullmatch(name.rpartition("[].")[2].removesuffix("[]"))
    if match is None or PREFIXES.match(name) or name.count(".") > DEEPEST:
        return None
    owner = _answer_name(match[1])
    if owner.kind not in ("human", "judge") or not owner.is_generic or owner.is_reason:
        return None
    own = answer_name(match[2])
    if own.kind:
        return replace(own, name=name, is_prefixed=True)
    return replace(owner, name=name, question=own.question, is_reason=own.is_reason, is_prefixed=True)


def _answer_name(name: str) -> AnswerName:
    last = name.rpartition("[].")[2].removesuffix("[]")
    prefix = PREFIXES.match(last)
    is_prefixed = bool(prefix and last.casefold().startswith(ANSWER_PREFIXES))
    plain = last[prefix.end() :] if prefix and last[prefix.end() :].strip() else last
    tokens = tokens_of(plain)
    reason = _reason_of(tokens)
    tokens = _without(tokens, reason)
    kind, rater = _rater_of(tokens, plain)
    tokens = _without(tokens, rater)
    if kind == "judge" and tokens and tokens[0].word in OF_JUDGES and plain[tokens[0].end :].startswith("."):
        tokens = tokens[1:]  # the name of a dictionary of judges
    item = _item_of(tokens, plain) if not kind else []
    tokens = _without(tokens, item)
    is_weak = len(rater) == 1 and INITIALS.fullmatch(rater[0].word) is not None
    return AnswerName(
        name=name,
        rater=_text_of(rater, plain),
        kind=kind,
        question=_question_text(tokens, plain),
        item=_text_of(item, plain),
        is_reason=bool(reason),
        is_prefixed=is_prefixed,
        is_weak=is_weak,
    )


def names_answers(name: str) -> bool:
    """Whether the header of a column says that it has answers: a rater's, a score, or a usual question."""
    answer, meanings = answer_name(name), meanings_of(name)
    if {"system", "explanation", "rater"} & meanings or answer.is_reason:
        return False
    return bool(answer.kind) or answer.has_quality or "value" in meanings


def _without(tokens: list[Token], others: list[Token]) -> list[Token]:
    starts = {token.start for token in others}
    return [token for token in tokens if token.start not in starts]


def _text_of(tokens: list[Token], name: str) -> str:
    """Return words as they are written where they are in one piece, else the words alone."""
    text = name[tokens[0].start : tokens[-1].end] if tokens else ""
    if len(tokens_of(text)) == len(tokens):
        return text
    return " ".join(name[token.start : token.end] for token in tokens)


def _question_text(tokens: list[Token], name: str) -> str:
    """Return the rest of a header: as it is written where it is in one piece, else its words."""
    text = _text_of(tokens, name)
    end = name[tokens[-1].end : tokens[-1].end + 1] if tokens else ""
    is_asked = end in ("?", "？") and text.endswith(name[tokens[-1].start : tokens[-1].end])
    return text + end if is_asked and len(tokens_of(text)) == len(tokens) else text


def _reason_of(tokens: list[Token]) -> list[Token]:
    """Return the words at an end of a header that say that the column explains another."""
    if len(tokens) > 5:
        return []
    for token in (tokens[-1:] or []) + tokens[:1]:
        if token.base in REASONS:
            return [token]
    return []


def _rater_of(tokens: list[Token], name: str) -> tuple[str, list[Token]]:
    """Return the kind of rater in a header, and the words that name it."""
    for place, token in enumerate(tokens):
        pair = token.word + (tokens[place + 1].word if place + 1 < len(tokens) else "")
        if pair == "groundtruth" or pair in ("goldstandard", "answerkey"):
            return "key", tokens[place : place + 2]
    models = {match.start(): match.end() for match in MODEL.finditer(name)}
    for place, token in enumerate(tokens):
        if token.base in METRICS or token.word in METRICS:
            return "metric", tokens[place : place + 1]
        is_model = token.start in models or looks_like_a_model(token.word)
        if is_model and token.base not in ("llm", "ai"):
            end = place + 1
            while end < len(tokens) and tokens[end].start < models.get(token.start, token.end):
                end += 1
            while end < len(tokens) and VERSIONS.fullmatch(tokens[end].word):
                end += 1
            begin = place - 1 if place and tokens[place - 1].base in ("judge", "llm") else place
            while begin and tokens[begin - 1].end == tokens[begin].start:
                begin -= 1  # of one word, such as CodeLlama
            return "judge", tokens[begin:end]
    for token in (tokens[0], tokens[-1]) if 1 < len(tokens) <= 3 else ():
        if token.word in BY_HAND:
            return "human", [token]
    for place, token in enumerate(tokens):
        base = token.base
        kind = (
            "judge" if base in JUDGES else "key" if base in KEYS else "human" if base in PEOPLE else ""
        ) or ("human" if INITIALS.fullmatch(token.word) else "")
        if kind:
            end = place + 1
            while end < len(tokens) and (
                tokens[end].is_number
                or tokens[end].base in JUDGES | (PEOPLE if kind == "human" else frozenset())
            ):
                end += 1
            if kind == "human" and end < len(tokens) and len(tokens[end].word) == 1 and end - place == 1:
                end += 1
            own = tokens[-1:] if end < len(tokens) and INITIALS.fullmatch(tokens[-1].word) else []
            return kind, tokens[place:end] + (own if kind == "human" else [])
    return "", []


def _item_of(tokens: list[Token], name: str) -> list[Token]:
    """Return the words that name an item: `Dialogue 3`, `d12`, or what stands in brackets at the end."""
    bracket = re.search(r"\[([^\[\]]+)\]\s*$", name)
    if bracket:
        return [token for token in tokens if token.start >= bracket.start(1)]
    for place, token in enumerate(tokens):
        if token.base in ITEMS and token.base != token.word:
            return [token]
        if token.word in ITEMS and place + 1 < len(tokens) and tokens[place + 1].is_number:
            return tokens[place : place + 2]
    return []
