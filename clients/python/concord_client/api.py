"""Every route of the API, as a method. Made from the OpenAPI document by `generate.py`; not edited by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from concord_client import models
from concord_client.transport import Transport


class Api(Transport):
    """All routes; each method is called like its operation."""

    def account_comfort_retrieve(self) -> models.Comfort:
        """One's own settings of the annotation page, and the key of each command."""
        path = "/account/comfort/"
        return cast("models.Comfort", self.send("GET", path))

    def account_comfort_partial_update(
        self,
        body: models.PatchedComfortRequest | None = None,
    ) -> models.Comfort:
        """One's own settings of the annotation page, and the key of each command."""
        path = "/account/comfort/"
        return cast("models.Comfort", self.send("PATCH", path, body=body))

    def account_password_create(self, body: models.NewPasswordRequest) -> None:
        """Change one's own password; all other sessions end."""
        path = "/account/password/"
        self.send("POST", path, body=body, keyed=True)

    def account_tokens_list(self) -> list[models.Token]:
        """List one's own tokens without their keys, or make one; its key is in this answer alone."""
        path = "/account/tokens/"
        return cast("list[models.Token]", self.send("GET", path))

    def account_tokens_create(self, body: models.NewTokenRequest) -> models.MadeToken:
        """List one's own tokens without their keys, or make one; its key is in this answer alone."""
        path = "/account/tokens/"
        return cast("models.MadeToken", self.send("POST", path, body=body))

    def account_tokens_destroy(self, id: int) -> None:
        """Revoke one of one's own tokens."""
        path = f"/account/tokens/{self.quoted(id)}/"
        self.send("DELETE", path)

    def adjudicate_retrieve(self) -> dict[str, Any]:
        """Everyone signed in: the open rounds in which they may decide."""
        path = "/adjudicate/"
        return cast("dict[str, Any]", self.send("GET", path))

    def adjudicate_decide_create(
        self,
        id: int,
        decision: int,
        body: models.DecideRequest,
    ) -> dict[str, Any]:
        """Adjudicators: decide on a case of their own, or decide anew."""
        path = f"/adjudicate/{self.quoted(id)}/{self.quoted(decision)}/decide/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def adjudicate_draft_create(
        self,
        id: int,
        decision: int,
        body: models.CaseDraftRequest,
    ) -> dict[str, Any]:
        """Adjudicators: keep the draft of a case of their own; the answer tells the version that is kept.
        """
        path = f"/adjudicate/{self.quoted(id)}/{self.quoted(decision)}/draft/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def adjudicate_pass_create(self, id: int, decision: int, body: models.WhyRequest) -> None:
        """Adjudicators: pass a case on to somebody else, with a reason."""
        path = f"/adjudicate/{self.quoted(id)}/{self.quoted(decision)}/pass/"
        self.send("POST", path, body=body, keyed=True)

    def adjudicate_claim_create(self, id: int) -> dict[str, Any]:
        """Adjudicators: the case before them, claimed where they hold none; `decision` is null at the end.
        """
        path = f"/adjudicate/{self.quoted(id)}/claim/"
        return cast("dict[str, Any]", self.send("POST", path, keyed=True))

    def adjudication_retrieve(self) -> dict[str, Any]:
        """List what waits for adjudication, latest first."""
        path = "/adjudication/"
        return cast("dict[str, Any]", self.send("GET", path))

    def adjudication_withdraw_create(self, id: int) -> dict[str, Any]:
        """Take an item off the list."""
        path = f"/adjudication/{self.quoted(id)}/withdraw/"
        return cast("dict[str, Any]", self.send("POST", path, keyed=True))

    def adjudication_decisions_withdraw_create(self, id: int, body: models.WhyRequest) -> dict[str, Any]:
        """Take a decision back, with a reason; its case waits again."""
        path = f"/adjudication/decisions/{self.quoted(id)}/withdraw/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def adjudication_rounds_list(self) -> dict[str, Any]:
        """List rounds of adjudication, newest first, or draw the cases of a new one."""
        path = "/adjudication/rounds/"
        return cast("dict[str, Any]", self.send("GET", path))

    def adjudication_rounds_begin(self, body: models.RoundRequest) -> dict[str, Any]:
        """List rounds of adjudication, newest first, or draw the cases of a new one."""
        path = "/adjudication/rounds/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def adjudication_rounds_retrieve(self, id: int) -> dict[str, Any]:
        """Return a round and how far it is. POST tops it up (by `added` cases), closes or reopens it."""
        path = f"/adjudication/rounds/{self.quoted(id)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def adjudication_rounds_change(self, id: int, body: models.ChangeRoundRequest) -> dict[str, Any]:
        """Return a round and how far it is. POST tops it up (by `added` cases), closes or reopens it."""
        path = f"/adjudication/rounds/{self.quoted(id)}/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def adjudication_rounds_file_retrieve(
        self,
        id: int,
        what: Literal["decisions", "queue"],
        form: Literal["csv", "jsonl"],
    ) -> bytes:
        """Stream a round's queue or decisions as csv or jsonl; of a locked test part no answers and
        decisions.
        """
        path = f"/adjudication/rounds/{self.quoted(id)}/{self.quoted(what)}.{self.quoted(form)}"
        return cast("bytes", self.send("GET", path))

    def adjudication_cases_list(
        self,
        id: int,
        *,
        rule: Literal["no_majority", "spread", "flagged", "commented", "judge", "confidence", "marked", "everything", "control"] | None = None,
        state: Literal["waiting", "differ", "settled"] | None = None,
    ) -> dict[str, Any]:
        """List the cases of a round in their order, in one state or picked by one rule where named."""
        path = f"/adjudication/rounds/{self.quoted(id)}/cases/"
        query = {
            "rule": rule,
            "state": state,
        }
        return cast("dict[str, Any]", self.send("GET", path, query=query))

    def adjudication_rounds_cases_retrieve(self, id: int, case: int) -> dict[str, Any]:
        """Return a case with the answers and the decisions; neither where it is in a test part that is
        locked.
        """
        path = f"/adjudication/rounds/{self.quoted(id)}/cases/{self.quoted(case)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def adjudication_rounds_import_create(
        self,
        id: int,
        body: models.DecisionsFileRequest,
    ) -> dict[str, Any]:
        """Record decisions made elsewhere as one's own: all, or none and the first line that is wrong.
        """
        path = f"/adjudication/rounds/{self.quoted(id)}/import/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def adjudication_rounds_report_retrieve(self, id: int) -> dict[str, Any]:
        """Return the decisions' agreement with raters and majority, control apart, and what was overturned.
        """
        path = f"/adjudication/rounds/{self.quoted(id)}/report/"
        return cast("dict[str, Any]", self.send("GET", path))

    def adjudication_rounds_preview_create(self, body: models.PlanRequest) -> dict[str, Any]:
        """Tell how many cases each rule would pick now, by question; nothing is kept."""
        path = "/adjudication/rounds/preview/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def annotators_list(self) -> Iterator[models.Annotator]:
        """Researchers: the active accounts with their groups, languages and the names they write as."""
        path = "/annotators/"
        return cast(Iterator[models.Annotator], self.pages(path))

    def annotators_retrieve(self, id: int) -> models.Annotator:
        """Researchers: one person; say which languages they read and under which names they write."""
        path = f"/annotators/{self.quoted(id)}/"
        return cast("models.Annotator", self.send("GET", path))

    def annotators_partial_update(
        self,
        id: int,
        body: models.PatchedAnnotatorRequest | None = None,
    ) -> models.Annotator:
        """Researchers: one person; say which languages they read and under which names they write."""
        path = f"/annotators/{self.quoted(id)}/"
        return cast("models.Annotator", self.send("PATCH", path, body=body))

    def answers_retrieve(self, id: int, *, judge: str | None = None) -> models.Answer:
        """Return an answer: what was asked and replied, its key with the why, and what was retrieved."""
        path = f"/answers/{self.quoted(id)}/"
        query = {
            "judge": judge,
        }
        return cast("models.Answer", self.send("GET", path, query=query))

    def batches_adopt_create(self, id: int, body: models.AdoptRequest) -> models.Batch:
        """It is looked at and collected; a run that paused for it goes on."""
        path = f"/batches/{self.quoted(id)}/adopt/"
        return cast("models.Batch", self.send("POST", path, body=body, keyed=True))

    def batches_give_up_create(self, id: int) -> models.Batch:
        """Its calls are asked again, and may be paid for twice."""
        path = f"/batches/{self.quoted(id)}/give-up/"
        return cast("models.Batch", self.send("POST", path, keyed=True))

    def batches_look_create(self, id: int) -> models.Batch:
        """Let a worker ask the provider at once how far it is."""
        path = f"/batches/{self.quoted(id)}/look/"
        return cast("models.Batch", self.send("POST", path, keyed=True))

    def benchmarks_list(
        self,
        *,
        name: str | None = None,
        order: Literal["-id", "id"] | None = None,
        state: Literal["cancelled", "done", "making", "stuck"] | None = None,
    ) -> Iterator[models.Benchmark]:
        """Researchers: benchmarks, latest first; POST asks for one, or goes on with the same one."""
        path = "/benchmarks/"
        query = {
            "name": name,
            "order": order,
            "state": state,
        }
        return cast(Iterator[models.Benchmark], self.pages(path, query=query))

    def benchmarks_create(self, body: models.StartedBenchmarkRequest) -> models.Benchmark:
        """Have a benchmark made in the background; the same order again goes on with it."""
        path = "/benchmarks/"
        return cast("models.Benchmark", self.send("POST", path, body=body, keyed=True))

    def benchmarks_retrieve(self, id: int) -> models.Benchmark:
        """Return how far it is, its figures, and what reviewers found."""
        path = f"/benchmarks/{self.quoted(id)}/"
        return cast("models.Benchmark", self.send("GET", path))

    def benchmarks_cancel_create(self, id: int) -> models.Benchmark:
        """Stop it and its runs; what was answered is kept."""
        path = f"/benchmarks/{self.quoted(id)}/cancel/"
        return cast("models.Benchmark", self.send("POST", path, keyed=True))

    def benchmarks_checked_create(self, id: int) -> models.Benchmark:
        """Mark it as checked for offensive content, by whom and when."""
        path = f"/benchmarks/{self.quoted(id)}/checked/"
        return cast("models.Benchmark", self.send("POST", path, keyed=True))

    def benchmarks_file_retrieve(self, id: int) -> str:
        """Return one dialogue a line, in the native format: the bytes that it was written from."""
        path = f"/benchmarks/{self.quoted(id)}/file/"
        return cast("str", self.send("GET", path))

    def benchmarks_go_on_create(
        self,
        id: int,
        body: models.GoOnRequest | None = None,
    ) -> models.Benchmark:
        """Try again what failed, or leave it out."""
        path = f"/benchmarks/{self.quoted(id)}/go-on/"
        return cast("models.Benchmark", self.send("POST", path, body=body, keyed=True))

    def benchmarks_estimate_create(
        self,
        body: models.EstimatedBenchmarkRequest,
    ) -> models.BenchmarkEstimate:
        """Estimate instances, calls, tokens and cost; nothing is sent and nothing is kept."""
        path = "/benchmarks/estimate/"
        return cast("models.BenchmarkEstimate", self.send("POST", path, body=body, keyed=True))

    def campaigns_list(
        self,
        *,
        archived: bool | None = None,
        corpus: str | None = None,
        order: Literal["-created_at", "-id", "-name", "created_at", "id", "name"] | None = None,
        since: str | None = None,
        state: Literal["closed", "draft", "open", "paused"] | None = None,
        text: str | None = None,
    ) -> Iterator[models.Campaign]:
        """Researchers: all campaigns that are not archived, or set up a new one as a draft.

        Those who look after campaigns without being researchers list these.
        """
        path = "/campaigns/"
        query = {
            "archived": archived,
            "corpus": corpus,
            "order": order,
            "since": since,
            "state": state,
            "text": text,
        }
        return cast(Iterator[models.Campaign], self.pages(path, query=query))

    def campaigns_create(self, body: models.CampaignRequest) -> models.Campaign:
        """Researchers: all campaigns that are not archived, or set up a new one as a draft.

        Those who look after campaigns without being researchers list these.
        """
        path = "/campaigns/"
        return cast("models.Campaign", self.send("POST", path, body=body, keyed=True))

    def campaigns_retrieve(self, campaign: int) -> dict[str, Any]:
        """Researchers: one campaign with its counts, its members, and how many annotators it lacks.

        `left_out` is what nobody is asked about (`tasks`, of which `mode`, and the `reason`), null for
        nothing. `sample` says how many `dialogues` were drawn, and of which `strata`, or would be if it
        opened now (`kept` false), and on how many `items` judge and people are `apart`; null where all
        dialogues are asked about. `comparing` says how many `comparisons` it asks about, and with which
        `baseline` if with one; null where it asks about none. `balanced` says how many tasks of each
        stratum each annotator has done or holds, without names: work is told by pseudonym (`watch/`).
        With PATCH, change it: a draft in everything, one that was opened in its name, lease, deadline,
        limits, annotators, guidelines and, upwards, its raters, for which its tasks get new places at
        once.
        """
        path = f"/campaigns/{self.quoted(campaign)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def campaigns_partial_update(
        self,
        campaign: int,
        body: models.PatchedCampaignRequest | None = None,
    ) -> dict[str, Any]:
        """Researchers: one campaign with its counts, its members, and how many annotators it lacks.

        `left_out` is what nobody is asked about (`tasks`, of which `mode`, and the `reason`), null for
        nothing. `sample` says how many `dialogues` were drawn, and of which `strata`, or would be if it
        opened now (`kept` false), and on how many `items` judge and people are `apart`; null where all
        dialogues are asked about. `comparing` says how many `comparisons` it asks about, and with which
        `baseline` if with one; null where it asks about none. `balanced` says how many tasks of each
        stratum each annotator has done or holds, without names: work is told by pseudonym (`watch/`).
        With PATCH, change it: a draft in everything, one that was opened in its name, lease, deadline,
        limits, annotators, guidelines and, upwards, its raters, for which its tasks get new places at
        once.
        """
        path = f"/campaigns/{self.quoted(campaign)}/"
        return cast("dict[str, Any]", self.send("PATCH", path, body=body))

    def campaigns_batches(self, campaign: int) -> models.CampaignBatches:
        """Researchers: the batches of a campaign; POST opens the next one."""
        path = f"/campaigns/{self.quoted(campaign)}/batches/"
        return cast("models.CampaignBatches", self.send("GET", path))

    def campaigns_batches_open_next(self, campaign: int) -> models.CampaignBatches:
        """Researchers: the batches of a campaign; POST opens the next one."""
        path = f"/campaigns/{self.quoted(campaign)}/batches/"
        return cast("models.CampaignBatches", self.send("POST", path, keyed=True))

    def campaigns_browsers_list(self, campaign: int) -> Iterator[models.ParticipantBrowser]:
        """The browsers in which participants ask to go on: those that wait, and those that were confirmed.
        """
        path = f"/campaigns/{self.quoted(campaign)}/browsers/"
        return cast(Iterator[models.ParticipantBrowser], self.pages(path))

    def campaigns_browsers_destroy(self, campaign: int, id: int) -> None:
        """Dismiss a browser that waits, or take a confirmation back: its participant is signed out
        everywhere.

        They go on by the link in the browsers that are confirmed still.
        """
        path = f"/campaigns/{self.quoted(campaign)}/browsers/{self.quoted(id)}/"
        self.send("DELETE", path)

    def campaigns_browsers_confirm_create(self, campaign: int, id: int) -> None:
        """Let a participant go on in another browser."""
        path = f"/campaigns/{self.quoted(campaign)}/browsers/{self.quoted(id)}/confirm/"
        self.send("POST", path, keyed=True)

    def campaigns_checks_retrieve(self, campaign: int) -> models.CheckPlan:
        """Researchers: how a campaign trains, tests and checks; with PATCH, set what is named."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/"
        return cast("models.CheckPlan", self.send("GET", path))

    def campaigns_checks_partial_update(
        self,
        campaign: int,
        body: models.PatchedCheckPlanRequest | None = None,
    ) -> models.CheckPlan:
        """Researchers: how a campaign trains, tests and checks; with PATCH, set what is named."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/"
        return cast("models.CheckPlan", self.send("PATCH", path, body=body))

    def campaigns_checks_keys_list(self, campaign: int) -> dict[str, Any]:
        """Researchers: a campaign's tasks with a key (`keys`), or key one more."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/keys/"
        return cast("dict[str, Any]", self.send("GET", path))

    def campaigns_checks_keys_create(self, campaign: int, body: models.NewKeyRequest) -> dict[str, Any]:
        """Researchers: a campaign's tasks with a key (`keys`), or key one more."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/keys/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def campaigns_checks_keys_retrieve(self, campaign: int, key: int) -> dict[str, Any]:
        """Researchers: one key; correct it (scores are counted anew), or retire it with DELETE."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/keys/{self.quoted(key)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def campaigns_checks_keys_update(
        self,
        campaign: int,
        key: int,
        body: models.ChangedKeyRequest,
    ) -> dict[str, Any]:
        """Researchers: one key; correct it (scores are counted anew), or retire it with DELETE."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/keys/{self.quoted(key)}/"
        return cast("dict[str, Any]", self.send("PUT", path, body=body))

    def campaigns_checks_keys_destroy(self, campaign: int, key: int) -> None:
        """Researchers: one key; correct it (scores are counted anew), or retire it with DELETE."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/keys/{self.quoted(key)}/"
        self.send("DELETE", path)

    def campaigns_checks_keys_from_create(
        self,
        campaign: int,
        body: models.KeysFromRequest,
    ) -> dict[str, Any]:
        """Researchers: key tasks by answers that are known; says how many `tasks` are keyed."""
        path = f"/campaigns/{self.quoted(campaign)}/checks/keys/from/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def campaigns_checks_people_create(self, campaign: int, body: models.DecisionRequest) -> None:
        """Researchers: let an annotator in, pause, lift, leave out of gold or readmit them, for a reason.
        """
        path = f"/campaigns/{self.quoted(campaign)}/checks/people/"
        self.send("POST", path, body=body, keyed=True)

    def campaigns_checks_results_retrieve(self, campaign: int) -> dict[str, Any]:
        """Researchers: each annotator's state and scores with intervals, and agreement with themselves.
        """
        path = f"/campaigns/{self.quoted(campaign)}/checks/results/"
        return cast("dict[str, Any]", self.send("GET", path))

    def campaigns_consent_update(self, campaign: int, body: models.ConsentRequest) -> models.Consent:
        """Researchers: change what annotators agree to before they work; empty, they are asked for nothing.
        """
        path = f"/campaigns/{self.quoted(campaign)}/consent/"
        return cast("models.Consent", self.send("PUT", path, body=body))

    def campaigns_copy_create(self, campaign: int, body: models.CopyRequest) -> models.Campaign:
        """Researchers: set up a draft like this campaign, with its people and guidelines, none of their
        work.
        """
        path = f"/campaigns/{self.quoted(campaign)}/copy/"
        return cast("models.Campaign", self.send("POST", path, body=body, keyed=True))

    def campaigns_guidelines_update(
        self,
        campaign: int,
        body: models.GuidelinesRequest,
    ) -> models.Guidelines:
        """Researchers: change the guidelines; a version in use is kept and gets a successor."""
        path = f"/campaigns/{self.quoted(campaign)}/guidelines/"
        return cast("models.Guidelines", self.send("PUT", path, body=body))

    def campaigns_held_list(
        self,
        campaign: int,
        *,
        annotator: str | None = None,
    ) -> Iterator[models.Held]:
        """Researchers: what annotators hold now, longest held first; or give a task to one of them."""
        path = f"/campaigns/{self.quoted(campaign)}/held/"
        query = {
            "annotator": annotator,
        }
        return cast(Iterator[models.Held], self.pages(path, query=query))

    def campaigns_held_give(self, campaign: int, body: models.GiveRequest) -> models.Held:
        """Researchers: what annotators hold now, longest held first; or give a task to one of them."""
        path = f"/campaigns/{self.quoted(campaign)}/held/"
        return cast("models.Held", self.send("POST", path, body=body, keyed=True))

    def campaigns_held_take_back(
        self,
        campaign: int,
        assignment: int,
        body: models.TakeRequest,
    ) -> models.Held:
        """Researchers: take a task back from who holds it, for others to find or for somebody named (`to`).
        """
        path = f"/campaigns/{self.quoted(campaign)}/held/{self.quoted(assignment)}/"
        return cast("models.Held", self.send("POST", path, body=body, keyed=True))

    def campaigns_join_links_list(self, campaign: int) -> Iterator[models.JoinLink]:
        """The links by which people join a campaign, or make one."""
        path = f"/campaigns/{self.quoted(campaign)}/join-links/"
        return cast(Iterator[models.JoinLink], self.pages(path))

    def campaigns_join_links_create(self, campaign: int, body: models.JoinLinkRequest) -> models.JoinLink:
        """The links by which people join a campaign, or make one."""
        path = f"/campaigns/{self.quoted(campaign)}/join-links/"
        return cast("models.JoinLink", self.send("POST", path, body=body, keyed=True))

    def campaigns_join_links_destroy(self, campaign: int, id: int) -> None:
        """Revoke a link: nobody joins by it any more; who joined stays."""
        path = f"/campaigns/{self.quoted(campaign)}/join-links/{self.quoted(id)}/"
        self.send("DELETE", path)

    def campaigns_members_create(
        self,
        campaign: int,
        body: models.MembersRequest | None = None,
    ) -> models.Campaign:
        """Researchers: let people take part, or take them out."""
        path = f"/campaigns/{self.quoted(campaign)}/members/"
        return cast("models.Campaign", self.send("POST", path, body=body, keyed=True))

    def campaigns_messages_list(self, campaign: int) -> Iterator[models.Thread]:
        """Researchers: the threads of a campaign, latest first; or write to annotators, each by themselves.
        """
        path = f"/campaigns/{self.quoted(campaign)}/messages/"
        return cast(Iterator[models.Thread], self.pages(path))

    def campaigns_messages_write(
        self,
        campaign: int,
        body: models.NewMessageRequest,
    ) -> list[models.Thread]:
        """Researchers: the threads of a campaign, latest first; or write to annotators, each by themselves.
        """
        path = f"/campaigns/{self.quoted(campaign)}/messages/"
        return cast("list[models.Thread]", self.send("POST", path, body=body, keyed=True))

    def campaigns_messages_create(
        self,
        campaign: int,
        thread: int,
        body: models.ThreadVerbRequest | None = None,
    ) -> models.Thread:
        """Researchers: answer in a thread, close it, or open it again."""
        path = f"/campaigns/{self.quoted(campaign)}/messages/{self.quoted(thread)}/"
        return cast("models.Thread", self.send("POST", path, body=body, keyed=True))

    def campaigns_notes_list(self, campaign: int) -> Iterator[models.TurnNote]:
        """Researchers: what annotators of a campaign noted on turns, latest first; no bookmarks."""
        path = f"/campaigns/{self.quoted(campaign)}/notes/"
        return cast(Iterator[models.TurnNote], self.pages(path))

    def campaigns_order_create(
        self,
        campaign: int,
        body: models.ReorderRequest | None = None,
    ) -> models.Reordered:
        """Researchers: put the tasks that nobody has begun in order anew, or in another order."""
        path = f"/campaigns/{self.quoted(campaign)}/order/"
        return cast("models.Reordered", self.send("POST", path, body=body, keyed=True))

    def campaigns_participants_list(self, campaign: int) -> Iterator[models.Participant]:
        """Who came by links, with their ids and completion codes; days are of UTC."""
        path = f"/campaigns/{self.quoted(campaign)}/participants/"
        return cast(Iterator[models.Participant], self.pages(path))

    def campaigns_plan_retrieve(
        self,
        campaign: int,
        *,
        again: bool | None = None,
        goal: Literal["width", "power"] | None = None,
        half_width: float | None = None,
        part: Literal["dev", "test", "all"] | None = None,
        pay: float | None = None,
        power: float | None = None,
        question: str | None = None,
        rater: str | None = None,
        statistic: Literal["percent_agreement", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "scott_pi", "mcc", "fleiss_kappa", "gwet_ac1", "gwet_ac2_linear", "gwet_ac2_quadratic", "brennan_prediger", "krippendorff_alpha", "precision", "recall", "f1", "specificity", "prevalence_index", "bias_index", "pabak", "positive_agreement", "negative_agreement", "icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k", "pearson", "spearman", "kendall_tau_b", "ranking_accuracy", "gap_percent_agreement", "gap_cohen_kappa", "gap_cohen_kappa_linear", "gap_cohen_kappa_quadratic", "gap_scott_pi", "gap_mcc", "gap_f1"] | None = None,
        width: float | None = None,
    ) -> models.Plan | models.ReportJob:
        """Return the plan from a campaign as its own pilot: that of its automatic study."""
        path = f"/campaigns/{self.quoted(campaign)}/plan/"
        query = {
            "again": again,
            "goal": goal,
            "half_width": half_width,
            "part": part,
            "pay": pay,
            "power": power,
            "question": question,
            "rater": rater,
            "statistic": statistic,
            "width": width,
        }
        return cast("models.Plan | models.ReportJob", self.send("GET", path, query=query))

    def campaigns_preview_retrieve(self, campaign: int, *, task: int | None = None) -> models.Preview:
        """Researchers: one of a campaign's first tasks as an annotator would get it, before or after it
        opens.
        """
        path = f"/campaigns/{self.quoted(campaign)}/preview/"
        query = {
            "task": task,
        }
        return cast("models.Preview", self.send("GET", path, query=query))

    def campaigns_report_retrieve(
        self,
        campaign: int,
        *,
        everyone: bool | None = None,
        part: Literal["all", "dev", "test"] | None = None,
    ) -> models.Report | models.ReportJob:
        """Return the automatic report of a campaign."""
        path = f"/campaigns/{self.quoted(campaign)}/report/"
        query = {
            "everyone": everyone,
            "part": part,
        }
        return cast("models.Report | models.ReportJob", self.send("GET", path, query=query))

    def campaigns_roles_list(self, campaign: int) -> Iterator[models.CampaignRole]:
        """List who adjudicates or looks after a campaign, or give somebody a role in it (researchers).
        """
        path = f"/campaigns/{self.quoted(campaign)}/roles/"
        return cast(Iterator[models.CampaignRole], self.pages(path))

    def campaigns_roles_create(
        self,
        campaign: int,
        body: models.CampaignRoleRequest,
    ) -> models.CampaignRole:
        """List who adjudicates or looks after a campaign, or give somebody a role in it (researchers).
        """
        path = f"/campaigns/{self.quoted(campaign)}/roles/"
        return cast("models.CampaignRole", self.send("POST", path, body=body, keyed=True))

    def campaigns_roles_destroy(self, campaign: int, id: int) -> None:
        """Researchers: take a role in a campaign away."""
        path = f"/campaigns/{self.quoted(campaign)}/roles/{self.quoted(id)}/"
        self.send("DELETE", path)

    def campaigns_rules_retrieve(self, campaign: int) -> models.Rules:
        """Who may and must rate what in a campaign; written, it holds from the next task handed out."""
        path = f"/campaigns/{self.quoted(campaign)}/rules/"
        return cast("models.Rules", self.send("GET", path))

    def campaigns_rules_update(
        self,
        campaign: int,
        body: models.RulesRequest | None = None,
    ) -> models.Rules:
        """Who may and must rate what in a campaign; written, it holds from the next task handed out."""
        path = f"/campaigns/{self.quoted(campaign)}/rules/"
        return cast("models.Rules", self.send("PUT", path, body=body))

    def campaigns_state_create(self, campaign: int, body: models.StateRequest) -> models.Campaign:
        """Researchers: open, pause, close, archive or bring back a campaign.

        202 with the id of a job where opening takes a while.
        """
        path = f"/campaigns/{self.quoted(campaign)}/state/"
        return cast("models.Campaign", self.send("POST", path, body=body, keyed=True))

    def campaigns_submissions_list(
        self,
        campaign: int,
        *,
        annotator: str | None = None,
        since: str | None = None,
        state: Literal["returned", "submitted", "voided"] | None = None,
    ) -> Iterator[models.Submission]:
        """Researchers: what was submitted in a campaign, latest first."""
        path = f"/campaigns/{self.quoted(campaign)}/submissions/"
        query = {
            "annotator": annotator,
            "since": since,
            "state": state,
        }
        return cast(Iterator[models.Submission], self.pages(path, query=query))

    def campaigns_submissions_create(
        self,
        campaign: int,
        assignment: int,
        body: models.WithdrawalRequest,
    ) -> models.Withdrawn:
        """Researchers: hand a submission back to its annotator, or void it."""
        path = f"/campaigns/{self.quoted(campaign)}/submissions/{self.quoted(assignment)}/"
        return cast("models.Withdrawn", self.send("POST", path, body=body, keyed=True))

    def campaigns_watch_retrieve(
        self,
        campaign: int,
        *,
        by: Literal["system", "language", "stratum", "batch"] | None = None,
        everyone: bool | None = None,
        question: str | None = None,
    ) -> models.Watch:
        """Tell how far a campaign is, how far its people agree so far, and what happened last."""
        path = f"/campaigns/{self.quoted(campaign)}/watch/"
        query = {
            "by": by,
            "everyone": everyone,
            "question": question,
        }
        return cast("models.Watch", self.send("GET", path, query=query))

    def campaigns_webhooks_list(self, campaign: int) -> Iterator[models.Webhook]:
        """Researchers: the webhooks of a campaign, or add one; its secret is in this answer alone."""
        path = f"/campaigns/{self.quoted(campaign)}/webhooks/"
        return cast(Iterator[models.Webhook], self.pages(path))

    def campaigns_webhooks_create(self, campaign: int, body: models.WebhookRequest) -> models.MadeWebhook:
        """Researchers: the webhooks of a campaign, or add one; its secret is in this answer alone."""
        path = f"/campaigns/{self.quoted(campaign)}/webhooks/"
        return cast("models.MadeWebhook", self.send("POST", path, body=body))

    def continuations_profile_list(self, id: int) -> list[models.MetricValue]:
        """Return every metric's values of one continuation, each with the turns that caused it."""
        path = f"/continuations/{self.quoted(id)}/profile/"
        return cast("list[models.MetricValue]", self.send("GET", path))

    def corpora_list(
        self,
        *,
        order: Literal["-created_at", "-id", "-name", "created_at", "id", "name"] | None = None,
        since: str | None = None,
        text: str | None = None,
    ) -> Iterator[models.Corpus]:
        """All corpora, and importing a new one or into an existing one."""
        path = "/corpora/"
        query = {
            "order": order,
            "since": since,
            "text": text,
        }
        return cast(Iterator[models.Corpus], self.pages(path, query=query))

    def corpora_create(self, body: models.ImportRequestRequest) -> models.ImportAnswer | models.JobAnswer:
        """Import a file: 201 where something is new, 200 where all of it was there already.

        A file over 4 MiB, or an Excel workbook, is left to a worker: 202 with the id of a job, whose
        `result` will be the same answer. A file that is refused is told by `file`, `line`, `field` and
        `reason`; where it has several problems, `problems` lists them, up to 20.
        """
        path = "/corpora/"
        return cast("models.ImportAnswer | models.JobAnswer", self.send("POST", path, form=body, keyed=True))

    def corpora_retrieve(self, name: str) -> models.CorpusDetail:
        """Return a corpus with its imports and systems."""
        path = f"/corpora/{self.quoted(name)}/"
        return cast("models.CorpusDetail", self.send("GET", path))

    def corpora_destroy(self, name: str, *, confirmation: str) -> dict[str, Any]:
        """Delete a corpus with everything about it. Administrators.

        `confirmation` is the corpus's name, in the query or in a JSON body. 202 with the id of a job
        where it takes a while.
        """
        path = f"/corpora/{self.quoted(name)}/"
        query = {
            "confirmation": confirmation,
        }
        return cast("dict[str, Any]", self.send("DELETE", path, query=query))

    def corpora_dialogues_list(
        self,
        name: str,
        *,
        part: Literal["evaluation", "training"] | None = None,
        system: str | None = None,
    ) -> Iterator[models.Dialogue]:
        """List dialogues: those that a `system` took part in, those of a `part`, where they are named.
        """
        path = f"/corpora/{self.quoted(name)}/dialogues/"
        query = {
            "part": part,
            "system": system,
        }
        return cast(Iterator[models.Dialogue], self.pages(path, query=query))

    def corpora_items_list(
        self,
        name: str,
        *,
        dialogue: str | None = None,
        kind: str | None = None,
        system: str | None = None,
    ) -> Iterator[models.Item]:
        """List items by `kind` (such as turn or dialogue), `dialogue` and `system`."""
        path = f"/corpora/{self.quoted(name)}/items/"
        query = {
            "dialogue": dialogue,
            "kind": kind,
            "system": system,
        }
        return cast(Iterator[models.Item], self.pages(path, query=query))

    def corpora_splits_list(self, name: str) -> list[models.Split]:
        """The splits of a corpus into dev and test."""
        path = f"/corpora/{self.quoted(name)}/splits/"
        return cast("list[models.Split]", self.send("GET", path))

    def corpora_splits_create(
        self,
        name: str,
        body: models.DrawRequestRequest | None = None,
    ) -> models.Split:
        """Draw a split, or draw it anew while it is not used. One that opens test needs its `purpose`.
        """
        path = f"/corpora/{self.quoted(name)}/splits/"
        return cast("models.Split", self.send("POST", path, body=body, keyed=True))

    def corpora_systems_list(self, name: str) -> list[models.System]:
        """List all systems with their families of models (such as gpt or llama)."""
        path = f"/corpora/{self.quoted(name)}/systems/"
        return cast("list[models.System]", self.send("GET", path))

    def corpora_systems_partial_update(
        self,
        name: str,
        body: models.PatchedFamiliesRequestRequest | None = None,
    ) -> list[models.System]:
        """Say of which family systems are; return all systems."""
        path = f"/corpora/{self.quoted(name)}/systems/"
        return cast("list[models.System]", self.send("PATCH", path, body=body))

    def corpora_turns_retrieve(
        self,
        name: str,
        *,
        after: str | None = None,
        limit: int | None = None,
        speaker: str | None = None,
        system: str | None = None,
        text: str | None = None,
    ) -> models.TurnSearch:
        """List turns by `text` (anywhere, in any case), `speaker` and `system`.

        A search of a large corpus ends after a moment with what was found so far, which may be nothing:
        `next` is the address that goes on with it, null once the whole corpus was searched.
        """
        path = f"/corpora/{self.quoted(name)}/turns/"
        query = {
            "after": after,
            "limit": limit,
            "speaker": speaker,
            "system": system,
            "text": text,
        }
        return cast("models.TurnSearch", self.send("GET", path, query=query))

    def corpora_without_turns_create(
        self,
        name: str,
        body: models.WithoutTurnsRequestRequest,
    ) -> models.ImportAnswer:
        """Copy dialogues into a new corpus: people, metadata, agenda, topic; 200 where it is there."""
        path = f"/corpora/{self.quoted(name)}/without-turns/"
        return cast("models.ImportAnswer", self.send("POST", path, body=body, keyed=True))

    def corpora_agents_retrieve(self, id: int) -> models.Agents:
        """Say which baselines there are, and who decided; agents that ask a model are productions."""
        path = f"/corpora/{self.quoted(id)}/agents/"
        return cast("models.Agents", self.send("GET", path))

    def corpora_agents_create(
        self,
        id: int,
        body: models.PlayRequest,
    ) -> models.Played | models.JobAnswer:
        """Let a baseline decide at every point; what it decided before stays as it is.

        202 with the id of a job for many scenarios and trials; the job's result is what it came to.
        """
        path = f"/corpora/{self.quoted(id)}/agents/"
        return cast("models.Played | models.JobAnswer", self.send("POST", path, body=body, keyed=True))

    def corpora_answers_retrieve(
        self,
        id: int,
        *,
        by: str | None = None,
        judge: str | None = None,
        layout: Literal["report", "table2", "table3", "table4"] | None = None,
        level: float | None = None,
        part: Literal["dev", "test", "all", "training"] | None = None,
        resamples: int | None = None,
        score: Literal["strict", "lenient"] | None = None,
        seed: int | None = None,
        set: str | None = None,
    ) -> models.AnswersReport:
        """Return how agents of long dialogues answer; POST logs a look at test and reports there."""
        path = f"/corpora/{self.quoted(id)}/answers/"
        query = {
            "by": by,
            "judge": judge,
            "layout": layout,
            "level": level,
            "part": part,
            "resamples": resamples,
            "score": score,
            "seed": seed,
            "set": set,
        }
        return cast("models.AnswersReport", self.send("GET", path, query=query))

    def corpora_answers_create(self, id: int, body: models.AnswersTestRequest) -> models.AnswersReport:
        """Return how agents of long dialogues answer; POST logs a look at test and reports there."""
        path = f"/corpora/{self.quoted(id)}/answers/"
        return cast("models.AnswersReport", self.send("POST", path, body=body, keyed=True))

    def corpora_answers_list_list(
        self,
        id: int,
        *,
        class_: Literal["answerable", "unanswerable"] | None = None,
        evidence: Literal["none", "partly", "sufficient"] | None = None,
        judge: str | None = None,
        outcome: Literal["failed", "open", "right", "wrong"] | None = None,
        part: Literal["all", "dev", "test", "training"] | None = None,
        score: Literal["lenient", "strict"] | None = None,
        set: str | None = None,
        source: Literal["quiz", "tkg"] | None = None,
        system: str | None = None,
    ) -> Iterator[models.ListedAnswer]:
        """List answers one by one, in order of script and walk."""
        path = f"/corpora/{self.quoted(id)}/answers/list/"
        query = {
            "class": class_,
            "evidence": evidence,
            "judge": judge,
            "outcome": outcome,
            "part": part,
            "score": score,
            "set": set,
            "source": source,
            "system": system,
        }
        return cast(Iterator[models.ListedAnswer], self.pages(path, query=query))

    def corpora_cascade_retrieve(
        self,
        id: int,
        *,
        by: str | None = None,
        jaccard: bool | None = None,
        judge: str | None = None,
        k: str | None = None,
        part: Literal["dev", "test", "all", "training"] | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        success: Literal["competence", "turn_score"] | None = None,
        tau: float | None = None,
        tau_address: float | None = None,
        tau_attend: float | None = None,
        tau_compose: float | None = None,
        tau_conduct: float | None = None,
        tau_ground: float | None = None,
        tau_speak: float | None = None,
        threshold: float | None = None,
    ) -> models.CascadeReport:
        """Return the three scores of group-chat agents; POST logs a look at test and reports there."""
        path = f"/corpora/{self.quoted(id)}/cascade/"
        query = {
            "by": by,
            "jaccard": jaccard,
            "judge": judge,
            "k": k,
            "part": part,
            "resamples": resamples,
            "seed": seed,
            "success": success,
            "tau": tau,
            "tau_address": tau_address,
            "tau_attend": tau_attend,
            "tau_compose": tau_compose,
            "tau_conduct": tau_conduct,
            "tau_ground": tau_ground,
            "tau_speak": tau_speak,
            "threshold": threshold,
        }
        return cast("models.CascadeReport", self.send("GET", path, query=query))

    def corpora_cascade_create(self, id: int, body: models.CascadeTestRequest) -> models.CascadeReport:
        """Return the three scores of group-chat agents; POST logs a look at test and reports there."""
        path = f"/corpora/{self.quoted(id)}/cascade/"
        return cast("models.CascadeReport", self.send("POST", path, body=body, keyed=True))

    def corpora_counts_retrieve(
        self,
        id: int,
        *,
        by: str | None = None,
        campaign: int | None = None,
        correction: Literal["auto", "rogan_gladen", "none"] | None = None,
        part: Literal["dev", "test", "all", "training"] | None = None,
        per_turns: int | None = None,
        questions: str | None = None,
        rater: str | None = None,
        resamples: int | None = None,
        samples: Literal["first", "mean"] | None = None,
        seed: int | None = None,
        strata: str | None = None,
    ) -> models.Counts | models.ReportJob:
        """Return counts and scores by system and condition; POST logs a look at test and counts there.

        Of many labels they are as last computed: `computed_at` says when, `labels_since` whether labels
        have come since, and `calls_since` whether calls of judges or metrics have ended; newer ones are
        then computed. Before there are any: 202 with their job; ask by GET again.
        """
        path = f"/corpora/{self.quoted(id)}/counts/"
        query = {
            "by": by,
            "campaign": campaign,
            "correction": correction,
            "part": part,
            "per_turns": per_turns,
            "questions": questions,
            "rater": rater,
            "resamples": resamples,
            "samples": samples,
            "seed": seed,
            "strata": strata,
        }
        return cast("models.Counts | models.ReportJob", self.send("GET", path, query=query))

    def corpora_counts_create(
        self,
        id: int,
        body: models.CountsTestRequest,
    ) -> models.Counts | models.ReportJob:
        """Return counts and scores by system and condition; POST logs a look at test and counts there.

        Of many labels they are as last computed: `computed_at` says when, `labels_since` whether labels
        have come since, and `calls_since` whether calls of judges or metrics have ended; newer ones are
        then computed. Before there are any: 202 with their job; ask by GET again.
        """
        path = f"/corpora/{self.quoted(id)}/counts/"
        return cast("models.Counts | models.ReportJob", self.send("POST", path, body=body, keyed=True))

    def corpora_facts_list(
        self,
        id: int,
        *,
        dialogue: str | None = None,
        relation: str | None = None,
        status: str | None = None,
        text: str | None = None,
    ) -> Iterator[models.RecordRow]:
        """List facts that nothing supersedes."""
        path = f"/corpora/{self.quoted(id)}/facts/"
        query = {
            "dialogue": dialogue,
            "relation": relation,
            "status": status,
            "text": text,
        }
        return cast(Iterator[models.RecordRow], self.pages(path, query=query))

    def corpora_facts_create(self, id: int, body: models.FactRequestRequest) -> models.RecordRow:
        """Write a fact by hand, as a draft or accepted at once."""
        path = f"/corpora/{self.quoted(id)}/facts/"
        return cast("models.RecordRow", self.send("POST", path, body=body, keyed=True))

    def corpora_preferences_retrieve(
        self,
        id: int,
        *,
        anchor: str | None = None,
        both_bad: Literal["tie", "drop"] | None = None,
        campaign: int | None = None,
        part: Literal["dev", "test", "all", "training"] | None = None,
        question: str | None = None,
        resamples: int | None = None,
        seed: int | None = None,
        systems: str | None = None,
        ties: Literal["half", "drop", "davidson"] | None = None,
    ) -> models.Preferences:
        """Return win rates, strengths, agreement, position bias; POST logs a look at test and reports there.
        """
        path = f"/corpora/{self.quoted(id)}/preferences/"
        query = {
            "anchor": anchor,
            "both_bad": both_bad,
            "campaign": campaign,
            "part": part,
            "question": question,
            "resamples": resamples,
            "seed": seed,
            "systems": systems,
            "ties": ties,
        }
        return cast("models.Preferences", self.send("GET", path, query=query))

    def corpora_preferences_create(
        self,
        id: int,
        body: models.PreferencesTestRequest,
    ) -> models.Preferences:
        """Return win rates, strengths, agreement, position bias; POST logs a look at test and reports there.
        """
        path = f"/corpora/{self.quoted(id)}/preferences/"
        return cast("models.Preferences", self.send("POST", path, body=body, keyed=True))

    def corpora_profile_retrieve(
        self,
        id: int,
        *,
        points: Literal["same", "all"] | None = None,
    ) -> dict[str, Any] | models.ReportJob:
        """Return what metrics say of each system: one record per system and metric.

        Systems are compared at the same points; `elsewhere` counts a system's values at other points. Of
        a large corpus as it was last computed: `computed_at` says when (null: now), `labels_since`
        whether labels have come since, and `calls_since` whether calls of judges or metrics have ended; a
        newer one is then computed. Before there is one: 202 with its job.
        """
        path = f"/corpora/{self.quoted(id)}/profile/"
        query = {
            "points": points,
        }
        return cast("dict[str, Any] | models.ReportJob", self.send("GET", path, query=query))

    def corpora_question_sets_list(self, id: int) -> Iterator[models.SetRow]:
        """List question sets, each in numbers."""
        path = f"/corpora/{self.quoted(id)}/question-sets/"
        return cast(Iterator[models.SetRow], self.pages(path))

    def corpora_question_sets_create(self, id: int, body: models.MakeRequestRequest) -> models.MadeAnswer:
        """Make a question set: 200 where the same is there, 202 with the job where it takes long."""
        path = f"/corpora/{self.quoted(id)}/question-sets/"
        return cast("models.MadeAnswer", self.send("POST", path, body=body, keyed=True))

    def corpora_question_sets_retrieve(self, id: int, one: int) -> models.SetRow:
        """Return a set in numbers: candidates by source, hops and type, and what is never asked."""
        path = f"/corpora/{self.quoted(id)}/question-sets/{self.quoted(one)}/"
        return cast("models.SetRow", self.send("GET", path))

    def corpora_question_sets_questions(
        self,
        id: int,
        one: int,
        *,
        answerable: str | None = None,
        hops: str | None = None,
        relation: str | None = None,
        source: str | None = None,
        text: str | None = None,
        type: str | None = None,
    ) -> Iterator[models.RecordRow]:
        """List the questions that a set asks."""
        path = f"/corpora/{self.quoted(id)}/question-sets/{self.quoted(one)}/questions/"
        query = {
            "answerable": answerable,
            "hops": hops,
            "relation": relation,
            "source": source,
            "text": text,
            "type": type,
        }
        return cast(Iterator[models.RecordRow], self.pages(path, query=query))

    def corpora_question_sets_uses(
        self,
        id: int,
        one: int,
        *,
        question: str | None = None,
        session: int | None = None,
        type: str | None = None,
    ) -> Iterator[models.UseRow]:
        """List where questions are asked: in which session, answerable or not, the key, the type, and why.
        """
        path = f"/corpora/{self.quoted(id)}/question-sets/{self.quoted(one)}/uses/"
        query = {
            "question": question,
            "session": session,
            "type": type,
        }
        return cast(Iterator[models.UseRow], self.pages(path, query=query))

    def corpora_questions_list(
        self,
        id: int,
        *,
        dialogue: str | None = None,
        status: str | None = None,
        text: str | None = None,
    ) -> Iterator[models.RecordRow]:
        """List quiz questions that nothing supersedes; those of a set are listed with the set."""
        path = f"/corpora/{self.quoted(id)}/questions/"
        query = {
            "dialogue": dialogue,
            "status": status,
            "text": text,
        }
        return cast(Iterator[models.RecordRow], self.pages(path, query=query))

    def corpora_questions_create(self, id: int, body: models.QuizRequestRequest) -> models.RecordRow:
        """Write a quiz question by hand, as a draft or accepted at once."""
        path = f"/corpora/{self.quoted(id)}/questions/"
        return cast("models.RecordRow", self.send("POST", path, body=body, keyed=True))

    def corpora_records_decide_create(
        self,
        id: int,
        kind: str,
        body: models.DecideRequestRequest | None = None,
    ) -> models.Decided:
        """Accept or reject records, or accept all drafts that nobody reviewed; the log says who did."""
        path = f"/corpora/{self.quoted(id)}/records/{self.quoted(kind)}/decide/"
        return cast("models.Decided", self.send("POST", path, body=body, keyed=True))

    def corpora_records_reviews_retrieve(self, id: int, kind: str) -> models.Applied:
        """Return what taking them over would do; nothing is changed."""
        path = f"/corpora/{self.quoted(id)}/records/{self.quoted(kind)}/reviews/"
        return cast("models.Applied", self.send("GET", path))

    def corpora_records_reviews_create(self, id: int, kind: str) -> models.Applied:
        """Take them over: accept, reject, and put right by records that supersede."""
        path = f"/corpora/{self.quoted(id)}/records/{self.quoted(kind)}/reviews/"
        return cast("models.Applied", self.send("POST", path, keyed=True))

    def corpora_records_retrieve(self, id: int, record: int) -> models.RecordRow:
        """Return a fact or a question."""
        path = f"/corpora/{self.quoted(id)}/records/{self.quoted(record)}/"
        return cast("models.RecordRow", self.send("GET", path))

    def corpora_records_partial_update(
        self,
        id: int,
        record: int,
        body: models.PatchedRecordChangeRequest | None = None,
    ) -> models.RecordRow:
        """Put it right, or accept or reject it without review; what was reviewed is superseded.

        The answer is the record that counts now.
        """
        path = f"/corpora/{self.quoted(id)}/records/{self.quoted(record)}/"
        return cast("models.RecordRow", self.send("PATCH", path, body=body))

    def corpora_relations_retrieve(self, id: int) -> models.RelationTableRow:
        """Return the table in force."""
        path = f"/corpora/{self.quoted(id)}/relations/"
        return cast("models.RelationTableRow", self.send("GET", path))

    def corpora_relations_update(
        self,
        id: int,
        body: models.RelationsRequestRequest,
    ) -> models.RelationTableRow:
        """Keep another table as the next version; the same one changes nothing."""
        path = f"/corpora/{self.quoted(id)}/relations/"
        return cast("models.RelationTableRow", self.send("PUT", path, body=body))

    def corpora_report_retrieve(
        self,
        id: int,
        *,
        everyone: bool | None = None,
        part: Literal["all", "dev", "test"] | None = None,
    ) -> models.Report | models.ReportJob:
        """Return the automatic report of a corpus."""
        path = f"/corpora/{self.quoted(id)}/report/"
        query = {
            "everyone": everyone,
            "part": part,
        }
        return cast("models.Report | models.ReportJob", self.send("GET", path, query=query))

    def corpora_scenarios_overview(
        self,
        id: int,
        *,
        limit: int | None = None,
        offset: int | None = None,
    ) -> models.ScenarioOverview:
        """Count the scenarios and their probes, and list them, each with the oracle's check."""
        path = f"/corpora/{self.quoted(id)}/scenarios/"
        query = {
            "limit": limit,
            "offset": offset,
        }
        return cast("models.ScenarioOverview", self.send("GET", path, query=query))

    def corpora_scenarios_create(self, id: int, body: models.SavedTextRequest) -> models.SavedScenario:
        """Save a scenario as a new dialogue of the corpus."""
        path = f"/corpora/{self.quoted(id)}/scenarios/"
        return cast("models.SavedScenario", self.send("POST", path, body=body, keyed=True))

    def corpora_scenarios_retrieve(self, id: int, dialogue: int) -> models.StoredScenario:
        """Return a scenario as a script and in the native format, turn by turn."""
        path = f"/corpora/{self.quoted(id)}/scenarios/{self.quoted(dialogue)}/"
        return cast("models.StoredScenario", self.send("GET", path))

    def corpora_scenarios_update(
        self,
        id: int,
        dialogue: int,
        body: models.SavedTextRequest,
    ) -> models.SavedScenario:
        """Save a changed scenario: over one that nobody answered to, or as a correction of keys.

        With another id it becomes a new dialogue (201).
        """
        path = f"/corpora/{self.quoted(id)}/scenarios/{self.quoted(dialogue)}/"
        return cast("models.SavedScenario", self.send("PUT", path, body=body))

    def corpora_scripts_list(self, id: int) -> Iterator[models.ScriptRow]:
        """List the long dialogues of a corpus, each in numbers."""
        path = f"/corpora/{self.quoted(id)}/scripts/"
        return cast(Iterator[models.ScriptRow], self.pages(path))

    def corpora_scripts_sessions(self, id: int, dialogue: int) -> Iterator[models.SessionRow]:
        """List the sessions of a script in order."""
        path = f"/corpora/{self.quoted(id)}/scripts/{self.quoted(dialogue)}/"
        return cast(Iterator[models.SessionRow], self.pages(path))

    def corpora_scripts_file(
        self,
        id: int,
        dialogue: int,
        *,
        continuations: bool | None = None,
        set: Sequence[str] | None = None,
        without_sets: bool | None = None,
    ) -> bytes:
        """Send a script in the native format: as it stands, with its facts, questions and question sets.
        """
        path = f"/corpora/{self.quoted(id)}/scripts/{self.quoted(dialogue)}/file/"
        query = {
            "continuations": continuations,
            "set": set,
            "without_sets": without_sets,
        }
        return cast("bytes", self.send("GET", path, query=query))

    def corpora_scripts_names_list(self, id: int, dialogue: int) -> list[models.Names]:
        """Return all versions by kind, the newest first."""
        path = f"/corpora/{self.quoted(id)}/scripts/{self.quoted(dialogue)}/names/"
        return cast("list[models.Names]", self.send("GET", path))

    def corpora_scripts_names_create(
        self,
        id: int,
        dialogue: int,
        body: models.NamesRequestRequest,
    ) -> models.Names:
        """Keep the next version of a kind; what is there is never changed."""
        path = f"/corpora/{self.quoted(id)}/scripts/{self.quoted(dialogue)}/names/"
        return cast("models.Names", self.send("POST", path, body=body, keyed=True))

    def corpora_scripts_sessions_retrieve(
        self,
        id: int,
        dialogue: int,
        number: int,
    ) -> models.WholeSession:
        """Return a session with all that was said of it."""
        path = f"/corpora/{self.quoted(id)}/scripts/{self.quoted(dialogue)}/sessions/{self.quoted(number)}/"
        return cast("models.WholeSession", self.send("GET", path))

    def corpora_scripts_sessions_partial_update(
        self,
        id: int,
        dialogue: int,
        number: int,
        body: models.PatchedChangeSessionRequest | None = None,
    ) -> models.ChangedSession:
        """Change a session's date, place or people, with the reason; question sets are marked."""
        path = f"/corpora/{self.quoted(id)}/scripts/{self.quoted(dialogue)}/sessions/{self.quoted(number)}/"
        return cast("models.ChangedSession", self.send("PATCH", path, body=body))

    def corpora_scripts_turns(
        self,
        id: int,
        dialogue: int,
        *,
        continuation: str | None = None,
        session: int | None = None,
        speaker: str | None = None,
        text: str | None = None,
    ) -> Iterator[models.ScriptTurn]:
        """List turns in order: of one session, that hold some words, or by a speaker; all may be said.

        With `continuation` they are those of what a system answered.
        """
        path = f"/corpora/{self.quoted(id)}/scripts/{self.quoted(dialogue)}/turns/"
        query = {
            "continuation": continuation,
            "session": session,
            "speaker": speaker,
            "text": text,
        }
        return cast(Iterator[models.ScriptTurn], self.pages(path, query=query))

    def corpora_simulations_list(
        self,
        id: int,
        *,
        order: Literal["-id", "id"] | None = None,
        set: str | None = None,
        state: Literal["cancelled", "done", "making", "stuck"] | None = None,
    ) -> Iterator[models.Simulation]:
        """Researchers: the simulations of a corpus, latest first; POST asks for one, or goes on with the
        same.
        """
        path = f"/corpora/{self.quoted(id)}/simulations/"
        query = {
            "order": order,
            "set": set,
            "state": state,
        }
        return cast(Iterator[models.Simulation], self.pages(path, query=query))

    def corpora_simulations_create(self, id: int, body: models.NewSimulationRequest) -> models.Simulation:
        """Have a system answer in the background; the same order again goes on with it."""
        path = f"/corpora/{self.quoted(id)}/simulations/"
        return cast("models.Simulation", self.send("POST", path, body=body, keyed=True))

    def corpora_simulations_estimate_create(
        self,
        id: int,
        body: models.NewSimulationRequest,
    ) -> models.SimulationEstimate:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        path = f"/corpora/{self.quoted(id)}/simulations/estimate/"
        return cast("models.SimulationEstimate", self.send("POST", path, body=body, keyed=True))

    def corpora_turns_and_whole_retrieve(
        self,
        id: int,
        *,
        campaign: int | None = None,
        limit: int | None = None,
        offset: int | None = None,
        turns: str | None = None,
        whole: str | None = None,
    ) -> models.TurnsAndWhole:
        """List continuations by people's mean of their turns and by their label of the whole."""
        path = f"/corpora/{self.quoted(id)}/turns-and-whole/"
        query = {
            "campaign": campaign,
            "limit": limit,
            "offset": offset,
            "turns": turns,
            "whole": whole,
        }
        return cast("models.TurnsAndWhole", self.send("GET", path, query=query))

    def decisions_retrieve(self, id: int, *, judge: str | None = None) -> models.AgentDecision:
        """Return a decision of a group-chat agent: its key, what it did, and its stages' scores."""
        path = f"/decisions/{self.quoted(id)}/"
        query = {
            "judge": judge,
        }
        return cast("models.AgentDecision", self.send("GET", path, query=query))

    def dialogues_retrieve(self, id: int) -> models.DialogueDetail:
        """One dialogue with its continuations and turns."""
        path = f"/dialogues/{self.quoted(id)}/"
        return cast("models.DialogueDetail", self.send("GET", path))

    def dialogues_compare_retrieve(
        self,
        id: int,
        *,
        against: str | None = None,
        at: int | None = None,
        continuation: Sequence[str] | None = None,
        limit: int | None = None,
        metric: str | None = None,
        offset: int | None = None,
    ) -> models.SideBySide:
        """List what each metric says of continuations of one context, beside each other."""
        path = f"/dialogues/{self.quoted(id)}/compare/"
        query = {
            "against": against,
            "at": at,
            "continuation": continuation,
            "limit": limit,
            "metric": metric,
            "offset": offset,
        }
        return cast("models.SideBySide", self.send("GET", path, query=query))

    def dialogues_keys_retrieve(self, id: int) -> models.AnswerKeys:
        """Return a scenario's own fields as the native format has them; 404 for other dialogues."""
        path = f"/dialogues/{self.quoted(id)}/keys/"
        return cast("models.AnswerKeys", self.send("GET", path))

    def dialogues_keys_partial_update(
        self,
        id: int,
        body: models.PatchedKeysRequestRequest | None = None,
    ) -> models.AnswerKeys:
        """Correct a scenario's keys: from then on they are another rater, and earlier labels stay."""
        path = f"/dialogues/{self.quoted(id)}/keys/"
        return cast("models.AnswerKeys", self.send("PATCH", path, body=body))

    def endpoints_list(self) -> Iterator[models.Endpoint]:
        """Administrators: where judges ask."""
        path = "/endpoints/"
        return cast(Iterator[models.Endpoint], self.pages(path))

    def endpoints_create(self, body: models.EndpointRequest) -> models.Endpoint:
        """Administrators: where judges ask."""
        path = "/endpoints/"
        return cast("models.Endpoint", self.send("POST", path, body=body, keyed=True))

    def endpoints_retrieve(self, id: int) -> models.Endpoint:
        """Administrators: one endpoint."""
        path = f"/endpoints/{self.quoted(id)}/"
        return cast("models.Endpoint", self.send("GET", path))

    def endpoints_update(self, id: int, body: models.EndpointRequest) -> models.Endpoint:
        """Administrators: one endpoint."""
        path = f"/endpoints/{self.quoted(id)}/"
        return cast("models.Endpoint", self.send("PUT", path, body=body))

    def endpoints_partial_update(
        self,
        id: int,
        body: models.PatchedEndpointRequest | None = None,
    ) -> models.Endpoint:
        """Administrators: one endpoint."""
        path = f"/endpoints/{self.quoted(id)}/"
        return cast("models.Endpoint", self.send("PATCH", path, body=body))

    def endpoints_test_create(self, id: int) -> models.Endpoint:
        """Ask for a test; a worker answers within seconds."""
        path = f"/endpoints/{self.quoted(id)}/test/"
        return cast("models.Endpoint", self.send("POST", path, keyed=True))

    def events_list(
        self,
        *,
        person: str | None = None,
        text: str | None = None,
        verb: str | None = None,
    ) -> Iterator[models.Event]:
        """List logged acts, newest first: of one `verb`, by or about a `person`, with a `text` in the
        subject.
        """
        path = "/events/"
        query = {
            "person": person,
            "text": text,
            "verb": verb,
        }
        return cast(Iterator[models.Event], self.pages(path, query=query))

    def exports_list(
        self,
        *,
        campaign: int | None = None,
        corpus: str | None = None,
        order: Literal["-created_at", "-id", "created_at", "id"] | None = None,
        since: str | None = None,
    ) -> Iterator[models.Export]:
        """List completed downloads with their hashes, newest first."""
        path = "/exports/"
        query = {
            "campaign": campaign,
            "corpus": corpus,
            "order": order,
            "since": since,
        }
        return cast(Iterator[models.Export], self.pages(path, query=query))

    def exports_files_retrieve(self, id: int) -> bytes:
        """Return the file that an export job wrote, to the account that asked for it; it is kept for a week.
        """
        path = f"/exports/files/{self.quoted(id)}/"
        return cast("bytes", self.send("GET", path))

    def exports_labels_file_retrieve(
        self,
        form: Literal["csv", "jsonl", "parquet"],
        *,
        campaign: int | None = None,
        corpus: int | None = None,
        notes: bool | None = None,
        part: Literal["", "all", "dev", "test", "training"] | None = None,
    ) -> bytes | dict[str, Any]:
        """Stream the labels of a corpus or campaign as csv, jsonl or parquet.

        With `notes` it is what annotators noted beside them: comments and flags on turns and on whole
        tasks. Of a corpus that is split GET gives dev. POST takes a part and, for test or all, its
        purpose: that is logged as a look at test. Many labels are written by a job: 202 with its id; once
        it is done, the file is at `exports/files/<id>/` for a week.
        """
        path = f"/exports/labels.{self.quoted(form)}"
        query = {
            "campaign": campaign,
            "corpus": corpus,
            "notes": notes,
            "part": part,
        }
        return cast("bytes | dict[str, Any]", self.send("GET", path, query=query))

    def exports_labels_file_create(
        self,
        form: Literal["csv", "jsonl", "parquet"],
        body: models.LabelOrNoteExportRequest | None = None,
    ) -> bytes | dict[str, Any]:
        """Stream the labels of a corpus or campaign as csv, jsonl or parquet.

        With `notes` it is what annotators noted beside them: comments and flags on turns and on whole
        tasks. Of a corpus that is split GET gives dev. POST takes a part and, for test or all, its
        purpose: that is logged as a look at test. Many labels are written by a job: 202 with its id; once
        it is done, the file is at `exports/files/<id>/` for a week.
        """
        path = f"/exports/labels.{self.quoted(form)}"
        return cast("bytes | dict[str, Any]", self.send("POST", path, body=body))

    def exports_names_create(self, body: models.NamesOfRequest) -> list[models.PersonBehind]:
        """Tell who is behind the pseudonyms of a corpus, for who asks for it expressly. Logged."""
        path = "/exports/names/"
        return cast("list[models.PersonBehind]", self.send("POST", path, body=body, keyed=True))

    def exports_packages_zip_retrieve(
        self,
        kind: Literal["alt-test", "hugging-face", "label-studio"],
        *,
        campaign: int | None = None,
        corpus: int | None = None,
        part: Literal["", "all", "dev", "test", "training"] | None = None,
        question: Sequence[str] | None = None,
    ) -> bytes | dict[str, Any]:
        """Send labels in the form of another tool, as a zip with a manifest of its files.

        `label-studio` (tasks and labelling configuration), `hugging-face` (Parquet and a dataset card),
        `alt-test` (dictionaries of the alternative annotator test; `question` narrows it). Parts and jobs
        are as for labels.
        """
        path = f"/exports/packages/{self.quoted(kind)}.zip"
        query = {
            "campaign": campaign,
            "corpus": corpus,
            "part": part,
            "question": question,
        }
        return cast("bytes | dict[str, Any]", self.send("GET", path, query=query))

    def exports_packages_zip_create(
        self,
        kind: Literal["alt-test", "hugging-face", "label-studio"],
        body: models.PackageExportRequest | None = None,
    ) -> bytes | dict[str, Any]:
        """Send labels in the form of another tool, as a zip with a manifest of its files.

        `label-studio` (tasks and labelling configuration), `hugging-face` (Parquet and a dataset card),
        `alt-test` (dictionaries of the alternative annotator test; `question` narrows it). Parts and jobs
        are as for labels.
        """
        path = f"/exports/packages/{self.quoted(kind)}.zip"
        return cast("bytes | dict[str, Any]", self.send("POST", path, body=body))

    def exports_sft_jsonl_retrieve(
        self,
        *,
        copy: int | None = None,
        corpus: int,
        part: Literal["", "all", "dev", "evaluation", "test", "training"] | None = None,
        prompting: Literal["taxonomy", "vanilla"] | None = None,
        turns: int | None = None,
        turns_per_call: int | None = None,
        window: int | None = None,
    ) -> bytes | dict[str, Any]:
        """Send examples for fine-tuning as chat-format JSONL; `Concord-Rows` counts them.

        One line for each window of people's own continuations: what `cocoeval_continuation` would send,
        and the reply that says what people said. `part` is training (without it) or evaluation of a
        benchmark, else a part of the split: test by POST with its purpose. Many are written by a job, as
        labels are.
        """
        path = "/exports/sft.jsonl"
        query = {
            "copy": copy,
            "corpus": corpus,
            "part": part,
            "prompting": prompting,
            "turns": turns,
            "turns_per_call": turns_per_call,
            "window": window,
        }
        return cast("bytes | dict[str, Any]", self.send("GET", path, query=query))

    def exports_sft_jsonl_create(self, body: models.SftRequest) -> bytes | dict[str, Any]:
        """Send examples for fine-tuning as chat-format JSONL; `Concord-Rows` counts them.

        One line for each window of people's own continuations: what `cocoeval_continuation` would send,
        and the reply that says what people said. `part` is training (without it) or evaluation of a
        benchmark, else a part of the split: test by POST with its purpose. Many are written by a job, as
        labels are.
        """
        path = "/exports/sft.jsonl"
        return cast("bytes | dict[str, Any]", self.send("POST", path, body=body))

    def exports_transcripts_file_retrieve(
        self,
        form: Literal["csv", "html", "md", "tex"],
        *,
        campaign: int | None = None,
        continuation: Sequence[int] | None = None,
        corpus: int | None = None,
        part: Literal["", "all", "dev", "test", "training"] | None = None,
        rater: Sequence[str] | None = None,
    ) -> bytes | dict[str, Any]:
        """Send transcripts with the tags of chosen raters, as csv, md, tex or html; `Concord-Rows` counts
        turns.

        Continuations of the test part are sent by POST with part and purpose, as labels are.
        """
        path = f"/exports/transcripts.{self.quoted(form)}"
        query = {
            "campaign": campaign,
            "continuation": continuation,
            "corpus": corpus,
            "part": part,
            "rater": rater,
        }
        return cast("bytes | dict[str, Any]", self.send("GET", path, query=query))

    def exports_transcripts_file_create(
        self,
        form: Literal["csv", "html", "md", "tex"],
        body: models.TranscriptExportRequest | None = None,
    ) -> bytes | dict[str, Any]:
        """Send transcripts with the tags of chosen raters, as csv, md, tex or html; `Concord-Rows` counts
        turns.

        Continuations of the test part are sent by POST with part and purpose, as labels are.
        """
        path = f"/exports/transcripts.{self.quoted(form)}"
        return cast("bytes | dict[str, Any]", self.send("POST", path, body=body))

    def generators_list(self) -> list[models.Generator]:
        """List them."""
        path = "/generators/"
        return cast("list[models.Generator]", self.send("GET", path))

    def gold_list(
        self,
        *,
        campaign: int | None = None,
        corpus: str | None = None,
        order: Literal["-created_at", "-id", "created_at", "id"] | None = None,
        rule: str | None = None,
        since: str | None = None,
    ) -> Iterator[models.Gold]:
        """List gold derivations, newest first, or make one: 202 with the id of a job where that takes a
        while.
        """
        path = "/gold/"
        query = {
            "campaign": campaign,
            "corpus": corpus,
            "order": order,
            "rule": rule,
            "since": since,
        }
        return cast(Iterator[models.Gold], self.pages(path, query=query))

    def gold_create(self, body: models.NewGoldRequest) -> models.Gold | dict[str, Any]:
        """List gold derivations, newest first, or make one: 202 with the id of a job where that takes a
        while.
        """
        path = "/gold/"
        return cast("models.Gold | dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def gold_retrieve(self, id: int) -> dict[str, Any]:
        """Return how a derivation came about, and how many labels came or changed since (`changes`)."""
        path = f"/gold/{self.quoted(id)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def gold_difference_retrieve(
        self,
        id: int,
        other: int,
        *,
        limit: int | None = None,
        offset: int | None = None,
        question: str | None = None,
        status: Literal["different", "equal", "neither", "only_first", "only_second"] | None = None,
    ) -> dict[str, Any]:
        """Compare a gold with another one of the same corpus and questions; `results` are the items of a
        status.

        `questions` counts the items by status, and says which share changed, how far values are apart,
        and which value became which. Items of a test part that nobody has opened are left out; `locked`
        counts them.
        """
        path = f"/gold/{self.quoted(id)}/difference/{self.quoted(other)}/"
        query = {
            "limit": limit,
            "offset": offset,
            "question": question,
            "status": status,
        }
        return cast("dict[str, Any]", self.send("GET", path, query=query))

    def gold_difference_rows_file_retrieve(
        self,
        id: int,
        other: int,
        form: Literal["csv", "jsonl", "parquet"],
        *,
        part: Literal["", "all", "dev", "test", "training"] | None = None,
    ) -> bytes | dict[str, Any]:
        """Stream two golds side by side as csv, jsonl or parquet; test or all by POST with its purpose.
        """
        path = f"/gold/{self.quoted(id)}/difference/{self.quoted(other)}/rows.{self.quoted(form)}"
        query = {
            "part": part,
        }
        return cast("bytes | dict[str, Any]", self.send("GET", path, query=query))

    def gold_difference_rows_file_create(
        self,
        id: int,
        other: int,
        form: Literal["csv", "jsonl", "parquet"],
        body: models.ExportPartRequest | None = None,
    ) -> bytes | dict[str, Any]:
        """Stream two golds side by side as csv, jsonl or parquet; test or all by POST with its purpose.
        """
        path = f"/gold/{self.quoted(id)}/difference/{self.quoted(other)}/rows.{self.quoted(form)}"
        return cast("bytes | dict[str, Any]", self.send("POST", path, body=body))

    def gold_labels_file_retrieve(
        self,
        id: int,
        form: Literal["csv", "jsonl", "parquet"],
        *,
        part: Literal["", "all", "dev", "test", "training"] | None = None,
    ) -> bytes | dict[str, Any]:
        """Stream a derivation's labels as csv, jsonl or parquet; test or all by POST with its purpose.
        """
        path = f"/gold/{self.quoted(id)}/labels.{self.quoted(form)}"
        query = {
            "part": part,
        }
        return cast("bytes | dict[str, Any]", self.send("GET", path, query=query))

    def gold_labels_file_create(
        self,
        id: int,
        form: Literal["csv", "jsonl", "parquet"],
        body: models.ExportPartRequest | None = None,
    ) -> bytes | dict[str, Any]:
        """Stream a derivation's labels as csv, jsonl or parquet; test or all by POST with its purpose.
        """
        path = f"/gold/{self.quoted(id)}/labels.{self.quoted(form)}"
        return cast("bytes | dict[str, Any]", self.send("POST", path, body=body))

    def gold_preview_create(self, body: models.NewGoldRequest) -> models.GoldPreview:
        """Count the items that would have a value, and those that would stay without one; nothing is kept.
        """
        path = "/gold/preview/"
        return cast("models.GoldPreview", self.send("POST", path, body=body, keyed=True))

    def gold_rules_list(self) -> list[models.GoldRule]:
        """List the rules by which gold can be chosen, with their options."""
        path = "/gold/rules/"
        return cast("list[models.GoldRule]", self.send("GET", path))

    def groups_list(self) -> Iterator[models.Group]:
        """Researchers: the groups of people, or make one."""
        path = "/groups/"
        return cast(Iterator[models.Group], self.pages(path))

    def groups_create(self, body: models.GroupRequest) -> models.Group:
        """Researchers: the groups of people, or make one."""
        path = "/groups/"
        return cast("models.Group", self.send("POST", path, body=body, keyed=True))

    def groups_retrieve(self, id: int) -> models.Group:
        """Researchers: one group; rename it, say who is in it, or delete it."""
        path = f"/groups/{self.quoted(id)}/"
        return cast("models.Group", self.send("GET", path))

    def groups_partial_update(
        self,
        id: int,
        body: models.PatchedGroupRequest | None = None,
    ) -> models.Group:
        """Researchers: one group; rename it, say who is in it, or delete it."""
        path = f"/groups/{self.quoted(id)}/"
        return cast("models.Group", self.send("PATCH", path, body=body))

    def groups_destroy(self, id: int) -> None:
        """Researchers: one group; rename it, say who is in it, or delete it."""
        path = f"/groups/{self.quoted(id)}/"
        self.send("DELETE", path)

    def invitations_list(self) -> Iterator[models.Invitation]:
        """List open invitations, or make one; its address is in this answer alone."""
        path = "/invitations/"
        return cast(Iterator[models.Invitation], self.pages(path))

    def invitations_create(self, body: models.NewInvitationRequest | None = None) -> models.Link:
        """List open invitations, or make one; its address is in this answer alone."""
        path = "/invitations/"
        return cast("models.Link", self.send("POST", path, body=body))

    def invitations_destroy(self, id: int) -> None:
        """Withdraw an invitation."""
        path = f"/invitations/{self.quoted(id)}/"
        self.send("DELETE", path)

    def invitations_send_create(self, id: int) -> models.Invitation:
        """Send an invitation to its e-mail address once more, with a new link."""
        path = f"/invitations/{self.quoted(id)}/send/"
        return cast("models.Invitation", self.send("POST", path, keyed=True))

    def invitations_by_mail_create(
        self,
        body: models.NewInvitationsByMailRequest,
    ) -> list[models.InvitationByMail]:
        """Invite e-mail addresses, all or none of them; a worker sends the links where mail is set up.

        Where it is not, `address` of each is its link, told in this answer alone. Nothing here says
        whether an address has an account.
        """
        path = "/invitations/by-mail/"
        return cast("list[models.InvitationByMail]", self.send("POST", path, body=body))

    def jobs_list(
        self,
        *,
        kind: Literal["baseline", "benchmark", "calls", "counts", "deletion", "export", "gold", "import", "invitations", "nearest", "opening", "plan", "profile", "questions", "report", "search", "simulation", "starting", "writing"] | None = None,
        order: Literal["-created_at", "-finished_at", "-id", "created_at", "finished_at", "id"] | None = None,
        since: str | None = None,
        state: Literal["cancelled", "done", "failed", "queued", "running"] | None = None,
        text: str | None = None,
    ) -> Iterator[models.Job]:
        """All jobs, latest first."""
        path = "/jobs/"
        query = {
            "kind": kind,
            "order": order,
            "since": since,
            "state": state,
            "text": text,
        }
        return cast(Iterator[models.Job], self.pages(path, query=query))

    def jobs_retrieve(self, id: int) -> models.Job:
        """One job."""
        path = f"/jobs/{self.quoted(id)}/"
        return cast("models.Job", self.send("GET", path))

    def jobs_cancel_create(self, id: int) -> models.Job:
        """Cancel a job: a waiting one at once, a running one at its next step."""
        path = f"/jobs/{self.quoted(id)}/cancel/"
        return cast("models.Job", self.send("POST", path, keyed=True))

    def jobs_retry_create(self, id: int) -> models.Job:
        """Do a job again that failed or was cancelled."""
        path = f"/jobs/{self.quoted(id)}/retry/"
        return cast("models.Job", self.send("POST", path, keyed=True))

    def metrics_list(self, *, corpus: str | None = None) -> list[models.Metric]:
        """List them all; with `corpus`, say which have no value there, and why."""
        path = "/metrics/"
        query = {
            "corpus": corpus,
        }
        return cast("list[models.Metric]", self.send("GET", path, query=query))

    def people_list(self, *, text: str | None = None) -> Iterator[models.Account]:
        """List accounts, those whose name holds `text`, or make one."""
        path = "/people/"
        query = {
            "text": text,
        }
        return cast(Iterator[models.Account], self.pages(path, query=query))

    def people_create(self, body: models.NewAccountRequest) -> models.Account:
        """List accounts, those whose name holds `text`, or make one."""
        path = "/people/"
        return cast("models.Account", self.send("POST", path, body=body, keyed=True))

    def people_retrieve(self, id: int) -> models.Account:
        """Read an account, change its role or state, or delete it with all its answers.

        To delete it, `confirmation` is the person's user name, in the query or in a JSON body.
        """
        path = f"/people/{self.quoted(id)}/"
        return cast("models.Account", self.send("GET", path))

    def people_partial_update(
        self,
        id: int,
        body: models.PatchedAccountChangeRequest | None = None,
    ) -> models.Account:
        """Read an account, change its role or state, or delete it with all its answers.

        To delete it, `confirmation` is the person's user name, in the query or in a JSON body.
        """
        path = f"/people/{self.quoted(id)}/"
        return cast("models.Account", self.send("PATCH", path, body=body))

    def people_destroy(
        self,
        id: int,
        *,
        confirmation: str,
        despite_use: bool | None = None,
    ) -> dict[str, Any]:
        """Read an account, change its role or state, or delete it with all its answers.

        To delete it, `confirmation` is the person's user name, in the query or in a JSON body.
        """
        path = f"/people/{self.quoted(id)}/"
        query = {
            "confirmation": confirmation,
            "despite_use": despite_use,
        }
        return cast("dict[str, Any]", self.send("DELETE", path, query=query))

    def people_reset_link_create(self, id: int) -> models.Link:
        """Make a one-time link for a new password; its address is in this answer alone."""
        path = f"/people/{self.quoted(id)}/reset-link/"
        return cast("models.Link", self.send("POST", path))

    def productions_list(
        self,
        *,
        corpus: str | None = None,
        dialogue: str | None = None,
        order: Literal["-finished_at", "-id", "finished_at", "id"] | None = None,
        run: int | None = None,
        status: Literal["done", "failed", "writing"] | None = None,
        system: str | None = None,
    ) -> Iterator[models.Production]:
        """Researchers: what is or was written, latest first; POST starts or resumes generation."""
        path = "/productions/"
        query = {
            "corpus": corpus,
            "dialogue": dialogue,
            "order": order,
            "run": run,
            "status": status,
            "system": system,
        }
        return cast(Iterator[models.Production], self.pages(path, query=query))

    def productions_create(self, body: models.NewProductionsRequest) -> models.Run | models.JobAnswer:
        """Start generation, or resume the run of the same system, condition and selection; return the run.

        202 with the id of a job for many dialogues; the job's result names the run.
        """
        path = "/productions/"
        return cast("models.Run | models.JobAnswer", self.send("POST", path, body=body, keyed=True))

    def productions_retrieve(self, id: int) -> models.Production:
        """Researchers: one production."""
        path = f"/productions/{self.quoted(id)}/"
        return cast("models.Production", self.send("GET", path))

    def productions_steps_list(self, id: int) -> Iterator[models.Step]:
        """Researchers: the calls of a production in order, with raw replies and errors."""
        path = f"/productions/{self.quoted(id)}/steps/"
        return cast(Iterator[models.Step], self.pages(path))

    def productions_estimate_create(
        self,
        body: models.NewProductionsRequest,
    ) -> models.GenerationEstimate:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        path = "/productions/estimate/"
        return cast("models.GenerationEstimate", self.send("POST", path, body=body, keyed=True))

    def prompts_list(self) -> Iterator[models.Prompt]:
        """List people's prompts and those that come with Concord; POST makes one from another one's text.
        """
        path = "/prompts/"
        return cast(Iterator[models.Prompt], self.pages(path))

    def prompts_create(self, body: models.NewPromptRequest) -> models.Version:
        """List people's prompts and those that come with Concord; POST makes one from another one's text.
        """
        path = "/prompts/"
        return cast("models.Version", self.send("POST", path, body=body, keyed=True))

    def prompts_retrieve(self, name: str) -> models.Prompt:
        """Return a prompt; PATCH archives or restores one of people's."""
        path = f"/prompts/{self.quoted(name)}/"
        return cast("models.Prompt", self.send("GET", path))

    def prompts_partial_update(
        self,
        name: str,
        body: models.PatchedArchivedRequest | None = None,
    ) -> models.Prompt:
        """Return a prompt; PATCH archives or restores one of people's."""
        path = f"/prompts/{self.quoted(name)}/"
        return cast("models.Prompt", self.send("PATCH", path, body=body))

    def prompts_examples_create(self, name: str, body: models.ExamplesRequest) -> models.Version:
        """Pick worked examples for a version's text; what is picked is saved as the next version."""
        path = f"/prompts/{self.quoted(name)}/examples/"
        return cast("models.Version", self.send("POST", path, body=body, keyed=True))

    def prompts_export_file_retrieve(self, name: str, form: str, *, number: int | None = None) -> bytes:
        """Send a prompt with its versions as YAML (`yaml`), or one version as Markdown (`md`)."""
        path = f"/prompts/{self.quoted(name)}/export.{self.quoted(form)}"
        query = {
            "number": number,
        }
        return cast("bytes", self.send("GET", path, query=query))

    def prompts_versions_list(self, name: str) -> Iterator[models.Version]:
        """List a prompt's versions, the newest first; POST saves the next one.

        A text that the newest version has already makes none: that version is returned.
        """
        path = f"/prompts/{self.quoted(name)}/versions/"
        return cast(Iterator[models.Version], self.pages(path))

    def prompts_versions_create(self, name: str, body: models.NewVersionRequest) -> models.Version:
        """List a prompt's versions, the newest first; POST saves the next one.

        A text that the newest version has already makes none: that version is returned.
        """
        path = f"/prompts/{self.quoted(name)}/versions/"
        return cast("models.Version", self.send("POST", path, body=body, keyed=True))

    def prompts_versions_retrieve(self, name: str, number: int) -> models.Version:
        """Return a version; DELETE deletes one that no judge has used."""
        path = f"/prompts/{self.quoted(name)}/versions/{self.quoted(number)}/"
        return cast("models.Version", self.send("GET", path))

    def prompts_versions_destroy(self, name: str, number: int) -> None:
        """Return a version; DELETE deletes one that no judge has used."""
        path = f"/prompts/{self.quoted(name)}/versions/{self.quoted(number)}/"
        self.send("DELETE", path)

    def prompts_diff_retrieve(self, *, a: str, b: str) -> models.PromptDifference:
        """Return what two versions differ by, line by line."""
        path = "/prompts/diff/"
        query = {
            "a": a,
            "b": b,
        }
        return cast("models.PromptDifference", self.send("GET", path, query=query))

    def prompts_import_create(self, body: models.FileRequest) -> models.Imported:
        """Make a prompt of a file, or add the versions that it lacks; `problems` has a line for each."""
        path = "/prompts/import/"
        return cast("models.Imported", self.send("POST", path, body=body, keyed=True))

    def prompts_request_create(self, body: models.AskRequest) -> list[models.Request]:
        """Return the exact request about an item, one for each part of the protocol; nothing is sent."""
        path = "/prompts/request/"
        return cast("list[models.Request]", self.send("POST", path, body=body, keyed=True))

    def protocols_list(self) -> list[models.Protocol]:
        """List them all."""
        path = "/protocols/"
        return cast("list[models.Protocol]", self.send("GET", path))

    def runs_list(
        self,
        *,
        campaign: int | None = None,
        corpus: str | None = None,
        kind: Literal["generate", "judge", "metric"] | None = None,
        order: Literal["-created_at", "-finished_at", "-id", "created_at", "finished_at", "id"] | None = None,
        rater: str | None = None,
        since: str | None = None,
        state: Literal["cancelled", "done", "failed", "paused", "queued", "running"] | None = None,
    ) -> Iterator[models.Run]:
        """Researchers: all runs but those of drafts, latest first; POST starts or resumes one."""
        path = "/runs/"
        query = {
            "campaign": campaign,
            "corpus": corpus,
            "kind": kind,
            "order": order,
            "rater": rater,
            "since": since,
            "state": state,
        }
        return cast(Iterator[models.Run], self.pages(path, query=query))

    def runs_create(self, body: models.NewRunRequest | None = None) -> models.Run | models.JobAnswer:
        """Start a run, or resume the one of the same judge or metric and the same selection.

        202 with the id of a job where starting takes a while; the job's result names the run.
        """
        path = "/runs/"
        return cast("models.Run | models.JobAnswer", self.send("POST", path, body=body, keyed=True))

    def runs_retrieve(self, id: int) -> models.Run:
        """Researchers: one run with its progress."""
        path = f"/runs/{self.quoted(id)}/"
        return cast("models.Run", self.send("GET", path))

    def runs_batches_list(self, id: int) -> Iterator[models.Batch]:
        """Researchers: the batches of a run, oldest first."""
        path = f"/runs/{self.quoted(id)}/batches/"
        return cast(Iterator[models.Batch], self.pages(path))

    def runs_calls_list(
        self,
        id: int,
        *,
        error_kind: Literal["access", "changed", "content_filter", "context_too_long", "defect", "lost_worker", "out_of_scale", "over_budget", "parameter", "rate_limit", "refusal", "request", "server", "transport", "truncated", "unparseable"] | None = None,
        state: Literal["batched", "cancelled", "done", "failed", "leased", "pending"] | None = None,
    ) -> Iterator[models.Call]:
        """Researchers: the calls of a run, with raw replies and errors."""
        path = f"/runs/{self.quoted(id)}/calls/"
        query = {
            "error_kind": error_kind,
            "state": state,
        }
        return cast(Iterator[models.Call], self.pages(path, query=query))

    def runs_cancel_create(self, id: int) -> models.Run:
        """Cancel the calls that wait."""
        path = f"/runs/{self.quoted(id)}/cancel/"
        return cast("models.Run", self.send("POST", path, keyed=True))

    def runs_caps_create(self, id: int, body: models.CapsRequest | None = None) -> models.Run:
        """Set or lift caps; a run that was paused at one goes on."""
        path = f"/runs/{self.quoted(id)}/caps/"
        return cast("models.Run", self.send("POST", path, body=body, keyed=True))

    def runs_pause_create(self, id: int) -> models.Run:
        """Ask nothing more until the run is resumed."""
        path = f"/runs/{self.quoted(id)}/pause/"
        return cast("models.Run", self.send("POST", path, keyed=True))

    def runs_resume_create(self, id: int) -> models.Run:
        """Go on; a run whose cap is reached pauses again at once."""
        path = f"/runs/{self.quoted(id)}/resume/"
        return cast("models.Run", self.send("POST", path, keyed=True))

    def runs_retry_create(self, id: int) -> models.Run | models.JobAnswer:
        """Ask again for what failed or was cancelled; 202 with the id of a job where that is a lot."""
        path = f"/runs/{self.quoted(id)}/retry/"
        return cast("models.Run | models.JobAnswer", self.send("POST", path, keyed=True))

    def runs_costs_list(
        self,
        *,
        by: Literal["campaign", "judge", "run"] | None = None,
    ) -> Iterator[models.Spent]:
        """Researchers: what judges have cost, by judge, campaign or run, dearest first."""
        path = "/runs/costs/"
        query = {
            "by": by,
        }
        return cast(Iterator[models.Spent], self.pages(path, query=query))

    def runs_estimate_create(self, body: models.NewRunRequest | None = None) -> models.Estimate:
        """Estimate calls, tokens and cost; nothing is sent and nothing is kept."""
        path = "/runs/estimate/"
        return cast("models.Estimate", self.send("POST", path, body=body, keyed=True))

    def scenarios_check_create(self, body: models.ScenarioTextRequest) -> models.CheckedScenario:
        """Read a scenario as an import would, the oracle's check included; nothing is kept."""
        path = "/scenarios/check/"
        return cast("models.CheckedScenario", self.send("POST", path, body=body, keyed=True))

    def schemes_list(self) -> Iterator[models.Scheme]:
        """Researchers: one's own schemes and the built-in ones; POST stores a new one. 422 lists its
        problems.
        """
        path = "/schemes/"
        return cast(Iterator[models.Scheme], self.pages(path))

    def schemes_create(self, body: models.WrittenRequest | None = None) -> models.SchemeVersion:
        """Researchers: one's own schemes and the built-in ones; POST stores a new one. 422 lists its
        problems.
        """
        path = "/schemes/"
        return cast("models.SchemeVersion", self.send("POST", path, body=body, keyed=True))

    def schemes_retrieve(self, key: str) -> models.SchemeVersion:
        """Researchers: the newest version of a scheme; PATCH archives or restores one of one's own."""
        path = f"/schemes/{self.quoted(key)}/"
        return cast("models.SchemeVersion", self.send("GET", path))

    def schemes_partial_update(
        self,
        key: str,
        body: models.PatchedSchemeArchivedRequest | None = None,
    ) -> models.SchemeVersion:
        """Researchers: the newest version of a scheme; PATCH archives or restores one of one's own."""
        path = f"/schemes/{self.quoted(key)}/"
        return cast("models.SchemeVersion", self.send("PATCH", path, body=body))

    def schemes_versions_list(self, key: str) -> Iterator[models.SchemeVersion]:
        """Researchers: a scheme's stored versions, the newest first; POST saves the newest.

        A version that nothing uses is replaced, a used one is kept and gets a successor. 422 lists the
        problems, or says that somebody saved after `seen`.
        """
        path = f"/schemes/{self.quoted(key)}/versions/"
        return cast(Iterator[models.SchemeVersion], self.pages(path))

    def schemes_versions_create(self, key: str, body: models.SavedRequest) -> models.SchemeVersion:
        """Researchers: a scheme's stored versions, the newest first; POST saves the newest.

        A version that nothing uses is replaced, a used one is kept and gets a successor. 422 lists the
        problems, or says that somebody saved after `seen`.
        """
        path = f"/schemes/{self.quoted(key)}/versions/"
        return cast("models.SchemeVersion", self.send("POST", path, body=body, keyed=True))

    def schemes_versions_retrieve(self, key: str, number: int) -> models.SchemeVersion:
        """Researchers: one version of a scheme."""
        path = f"/schemes/{self.quoted(key)}/versions/{self.quoted(number)}/"
        return cast("models.SchemeVersion", self.send("GET", path))

    def schemes_check_create(self, body: models.WrittenRequest | None = None) -> models.Checked:
        """Researchers: whether a scheme can be asked; nothing is stored."""
        path = "/schemes/check/"
        return cast("models.Checked", self.send("POST", path, body=body, keyed=True))

    def schemes_diff_retrieve(self, *, a: str, b: str) -> models.SchemeDifference:
        """Researchers: what two versions differ by, of one scheme or of two."""
        path = "/schemes/diff/"
        query = {
            "a": a,
            "b": b,
        }
        return cast("models.SchemeDifference", self.send("GET", path, query=query))

    def schemes_from_corpus_create(self, body: models.FromCorpusRequest) -> models.SchemeVersion:
        """Researchers: make a scheme of the questions that a corpus's files brought."""
        path = "/schemes/from-corpus/"
        return cast("models.SchemeVersion", self.send("POST", path, body=body, keyed=True))

    def schemes_preview_create(self, body: models.WrittenRequest | None = None) -> models.Preview:
        """Researchers: a scheme's questions beside a sample, as an annotator gets them; nothing is stored.
        """
        path = "/schemes/preview/"
        return cast("models.Preview", self.send("POST", path, body=body, keyed=True))

    def simulations_retrieve(self, id: int) -> models.Simulation:
        """Return its condition, how far it is, and what it took."""
        path = f"/simulations/{self.quoted(id)}/"
        return cast("models.Simulation", self.send("GET", path))

    def simulations_cancel_create(self, id: int) -> models.Simulation:
        """Stop it and its runs; what was answered is kept."""
        path = f"/simulations/{self.quoted(id)}/cancel/"
        return cast("models.Simulation", self.send("POST", path, keyed=True))

    def simulations_go_on_create(self, id: int) -> models.Simulation:
        """Try again what failed, and go on."""
        path = f"/simulations/{self.quoted(id)}/go-on/"
        return cast("models.Simulation", self.send("POST", path, keyed=True))

    def studies_list(
        self,
        *,
        campaign: int | None = None,
        corpus: str | None = None,
        order: Literal["-created_at", "-id", "-name", "created_at", "id", "name"] | None = None,
        since: str | None = None,
        text: str | None = None,
    ) -> Iterator[models.Study]:
        """List studies, newest first, or make one."""
        path = "/studies/"
        query = {
            "campaign": campaign,
            "corpus": corpus,
            "order": order,
            "since": since,
            "text": text,
        }
        return cast(Iterator[models.Study], self.pages(path, query=query))

    def studies_create(self, body: models.StudyRequest) -> models.Study:
        """List studies, newest first, or make one."""
        path = "/studies/"
        return cast("models.Study", self.send("POST", path, body=body, keyed=True))

    def studies_retrieve(self, id: int) -> models.Study:
        """Return a study."""
        path = f"/studies/{self.quoted(id)}/"
        return cast("models.Study", self.send("GET", path))

    def studies_items_retrieve(
        self,
        id: int,
        *,
        a: str | None = None,
        b: str | None = None,
        cell: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
        part: Literal["all", "dev", "test"] | None = None,
        question: str,
    ) -> dict[str, Any]:
        """List the items of a question on which two raters differ, farthest apart first, with all answers.
        """
        path = f"/studies/{self.quoted(id)}/items/"
        query = {
            "a": a,
            "b": b,
            "cell": cell,
            "limit": limit,
            "offset": offset,
            "part": part,
            "question": question,
        }
        return cast("dict[str, Any]", self.send("GET", path, query=query))

    def studies_open_test_create(
        self,
        id: int,
        body: models.PurposeRequest,
    ) -> models.Report | models.ReportJob:
        """Log a look at test with its purpose, and return the report on test."""
        path = f"/studies/{self.quoted(id)}/open-test/"
        return cast("models.Report | models.ReportJob", self.send("POST", path, body=body, keyed=True))

    def studies_plan_retrieve(
        self,
        id: int,
        *,
        again: bool | None = None,
        goal: Literal["width", "power"] | None = None,
        half_width: float | None = None,
        part: Literal["dev", "test", "all"] | None = None,
        pay: float | None = None,
        power: float | None = None,
        question: str | None = None,
        rater: str | None = None,
        statistic: Literal["percent_agreement", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "scott_pi", "mcc", "fleiss_kappa", "gwet_ac1", "gwet_ac2_linear", "gwet_ac2_quadratic", "brennan_prediger", "krippendorff_alpha", "precision", "recall", "f1", "specificity", "prevalence_index", "bias_index", "pabak", "positive_agreement", "negative_agreement", "icc_1_1", "icc_2_1", "icc_3_1", "icc_1_k", "icc_2_k", "icc_3_k", "pearson", "spearman", "kendall_tau_b", "ranking_accuracy", "gap_percent_agreement", "gap_cohen_kappa", "gap_cohen_kappa_linear", "gap_cohen_kappa_quadratic", "gap_scott_pi", "gap_mcc", "gap_f1"] | None = None,
        width: float | None = None,
    ) -> models.Plan | models.ReportJob:
        """Return how many more double-rated dialogues a study needs.

        A large plan is computed by a job: 202 until it is done. It stays as it was when labels come, and
        says so (`labels_since`); `again` asks for a new one, whose job stands at `computing` meanwhile.
        """
        path = f"/studies/{self.quoted(id)}/plan/"
        query = {
            "again": again,
            "goal": goal,
            "half_width": half_width,
            "part": part,
            "pay": pay,
            "power": power,
            "question": question,
            "rater": rater,
            "statistic": statistic,
            "width": width,
        }
        return cast("models.Plan | models.ReportJob", self.send("GET", path, query=query))

    def studies_recompute_create(
        self,
        id: int,
        body: models.RecomputeRequest | None = None,
    ) -> models.Report | models.ReportJob:
        """Compute a study again on the labels of now. A look at test goes through open-test instead."""
        path = f"/studies/{self.quoted(id)}/recompute/"
        return cast("models.Report | models.ReportJob", self.send("POST", path, body=body, keyed=True))

    def studies_report_retrieve(
        self,
        id: int,
        *,
        part: Literal["all", "dev", "test"] | None = None,
    ) -> models.Report | models.ReportJob:
        """Return a study's newest report; of a small study it is of the labels of now.

        Of a large one it stays as it was when labels come, and says so (`labels_since`); `recompute` asks
        for a new one, whose job stands at `computing` meanwhile. Before the first is done: 202 with its
        progress.
        """
        path = f"/studies/{self.quoted(id)}/report/"
        query = {
            "part": part,
        }
        return cast("models.Report | models.ReportJob", self.send("GET", path, query=query))

    def studies_report_file_retrieve(
        self,
        id: int,
        form: Literal["csv", "html", "json", "latex", "md"],
        *,
        part: Literal["all", "dev", "test"] | None = None,
    ) -> dict[str, Any] | bytes:
        """Return the newest report as json, csv, md, latex or html."""
        path = f"/studies/{self.quoted(id)}/report.{self.quoted(form)}"
        query = {
            "part": part,
        }
        return cast("dict[str, Any] | bytes", self.send("GET", path, query=query))

    def webhooks_list(self) -> Iterator[models.Webhook]:
        """Administrators: the webhooks of all of Concord, or add one; its secret is in this answer alone.
        """
        path = "/webhooks/"
        return cast(Iterator[models.Webhook], self.pages(path))

    def webhooks_create(self, body: models.WebhookRequest) -> models.MadeWebhook:
        """Administrators: the webhooks of all of Concord, or add one; its secret is in this answer alone.
        """
        path = "/webhooks/"
        return cast("models.MadeWebhook", self.send("POST", path, body=body))

    def webhooks_retrieve(self, id: int) -> models.Webhook:
        """Researchers: a campaign's webhook; change or delete it. Administrators: any."""
        path = f"/webhooks/{self.quoted(id)}/"
        return cast("models.Webhook", self.send("GET", path))

    def webhooks_partial_update(
        self,
        id: int,
        body: models.PatchedWebhookRequest | None = None,
    ) -> models.Webhook:
        """Researchers: a campaign's webhook; change or delete it. Administrators: any."""
        path = f"/webhooks/{self.quoted(id)}/"
        return cast("models.Webhook", self.send("PATCH", path, body=body))

    def webhooks_destroy(self, id: int) -> None:
        """Researchers: a campaign's webhook; change or delete it. Administrators: any."""
        path = f"/webhooks/{self.quoted(id)}/"
        self.send("DELETE", path)

    def webhooks_act_create(self, id: int, body: models.WebhookVerbRequest) -> models.Webhook:
        """Researchers: switch a webhook on or off, or send it a test (a delivery of kind `ping`)."""
        path = f"/webhooks/{self.quoted(id)}/act/"
        return cast("models.Webhook", self.send("POST", path, body=body, keyed=True))

    def webhooks_deliveries_list(
        self,
        id: int,
        *,
        kind: Literal["campaign.completed", "ping", "run.failed", "run.finished", "task.submitted"] | None = None,
        since: str | None = None,
        state: Literal["delivered", "failed", "leased", "pending"] | None = None,
    ) -> Iterator[models.Delivery]:
        """Researchers: what a webhook was told, or is to be told, latest first."""
        path = f"/webhooks/{self.quoted(id)}/deliveries/"
        query = {
            "kind": kind,
            "since": since,
            "state": state,
        }
        return cast(Iterator[models.Delivery], self.pages(path, query=query))

    def webhooks_rotate_create(self, id: int) -> models.MadeWebhook:
        """Researchers: give a webhook another secret, told this once; for a day the former one signs, too.
        """
        path = f"/webhooks/{self.quoted(id)}/rotate/"
        return cast("models.MadeWebhook", self.send("POST", path))

    def webhooks_deliveries_again_create(self, id: int) -> models.Delivery:
        """Researchers: send a delivery once more, now and under the same id."""
        path = f"/webhooks/deliveries/{self.quoted(id)}/again/"
        return cast("models.Delivery", self.send("POST", path, keyed=True))

    def work_list(self) -> list[models.MyCampaign]:
        """Everyone signed in: the campaigns they take part in."""
        path = "/work/"
        return cast("list[models.MyCampaign]", self.send("GET", path))

    def work_draft_create(
        self,
        campaign: int,
        assignment: int,
        body: models.DraftRequest,
    ) -> dict[str, Any]:
        """Members: keep a draft; it replaces neither a newer one nor another client's that it has not seen.
        """
        path = f"/work/{self.quoted(campaign)}/{self.quoted(assignment)}/draft/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def work_notes_list(self, campaign: int, assignment: int) -> list[models.Note]:
        """Members: what they noted on the lines of a task of theirs; note something. Bookmarks are private.
        """
        path = f"/work/{self.quoted(campaign)}/{self.quoted(assignment)}/notes/"
        return cast("list[models.Note]", self.send("GET", path))

    def work_notes_create(
        self,
        campaign: int,
        assignment: int,
        body: models.NewNoteRequest,
    ) -> models.Note:
        """Members: what they noted on the lines of a task of theirs; note something. Bookmarks are private.
        """
        path = f"/work/{self.quoted(campaign)}/{self.quoted(assignment)}/notes/"
        return cast("models.Note", self.send("POST", path, body=body, keyed=True))

    def work_skip_create(
        self,
        campaign: int,
        assignment: int,
        body: models.SkipRequest,
    ) -> dict[str, Any]:
        """Members: give a task up for a reason; the answer carries the next one."""
        path = f"/work/{self.quoted(campaign)}/{self.quoted(assignment)}/skip/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def work_submit_create(
        self,
        campaign: int,
        assignment: int,
        body: models.SubmitRequest,
    ) -> dict[str, Any]:
        """Members: submit a task; the answer carries the next one. The same sent again changes nothing.
        """
        path = f"/work/{self.quoted(campaign)}/{self.quoted(assignment)}/submit/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def work_accept_create(self, campaign: int, body: models.AcceptRequest) -> dict[str, Any]:
        """Members: agree to a version of the consent text, say that changed guidelines or a notice are read.

        A notice is accepted with what it is and its `version`; accepting `training` or `test` begins it.
        """
        path = f"/work/{self.quoted(campaign)}/accept/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def work_agreement_retrieve(self, campaign: int) -> models.OwnAgreement:
        """Members of a campaign that shows it: how far they agree with the others."""
        path = f"/work/{self.quoted(campaign)}/agreement/"
        return cast("models.OwnAgreement", self.send("GET", path))

    def work_guidelines_retrieve(self, campaign: int) -> models.Guidelines:
        """Members: the guidelines in force."""
        path = f"/work/{self.quoted(campaign)}/guidelines/"
        return cast("models.Guidelines", self.send("GET", path))

    def work_next_create(self, campaign: int) -> dict[str, Any]:
        """Members: the task before them; claims one where they hold none.

        Where `waiting` is set, `task` is null until what it tells is accepted: a consent text, guidelines
        that changed since they were last read, or a notice of the training, the test or the checks. Who
        came by a link and is done finds under `completion` the `code` to take away and the `address` to
        return to ('' for none).
        """
        path = f"/work/{self.quoted(campaign)}/next/"
        return cast("dict[str, Any]", self.send("POST", path, keyed=True))

    def work_reopen_create(
        self,
        campaign: int,
        body: models.ReopenRequest | None = None,
    ) -> dict[str, Any]:
        """Members: an earlier task of theirs, to be revised."""
        path = f"/work/{self.quoted(campaign)}/reopen/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def work_messages_list(self) -> Iterator[models.Thread]:
        """Everyone signed in: the threads between them and researchers, latest first; or ask something.
        """
        path = "/work/messages/"
        return cast(Iterator[models.Thread], self.pages(path))

    def work_messages_ask(self, body: models.QuestionRequest) -> models.Thread:
        """Everyone signed in: the threads between them and researchers, latest first; or ask something.
        """
        path = "/work/messages/"
        return cast("models.Thread", self.send("POST", path, body=body, keyed=True))

    def work_messages_create(
        self,
        thread: int,
        body: models.AnswerRequest | None = None,
    ) -> models.Thread:
        """Everyone signed in: see a thread of their own, and say something in it."""
        path = f"/work/messages/{self.quoted(thread)}/"
        return cast("models.Thread", self.send("POST", path, body=body, keyed=True))

    def work_submissions_list(
        self,
        *,
        answer: str | None = None,
        bookmarked: str | None = None,
        campaign: str | None = None,
        commented: str | None = None,
        flagged: str | None = None,
        since: str | None = None,
        text: str | None = None,
        until: str | None = None,
    ) -> Iterator[models.OwnSubmission]:
        """Everyone signed in: what they submitted, latest first; searched as the page does it."""
        path = "/work/submissions/"
        query = {
            "answer": answer,
            "bookmarked": bookmarked,
            "campaign": campaign,
            "commented": commented,
            "flagged": flagged,
            "since": since,
            "text": text,
            "until": until,
        }
        return cast(Iterator[models.OwnSubmission], self.pages(path, query=query))

    def benches_list(self) -> dict[str, Any]:
        """List the benches, latest first; POST opens one on the dev part of a corpus or campaign."""
        path = "/workbench/"
        return cast("dict[str, Any]", self.send("GET", path))

    def benches_open(self, body: models.NewBenchRequest) -> dict[str, Any]:
        """List the benches, latest first; POST opens one on the dev part of a corpus or campaign."""
        path = "/workbench/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def benches_read(self, id: int) -> dict[str, Any]:
        """Return a bench with its drafts in short."""
        path = f"/workbench/{self.quoted(id)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def workbench_checks_retrieve(
        self,
        id: int,
        *,
        draft: int,
        own: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Return what checks of a draft found; POST asks what one needs, or says (`estimate`) what it takes.
        """
        path = f"/workbench/{self.quoted(id)}/checks/"
        query = {
            "draft": draft,
            "own": own,
        }
        return cast("dict[str, Any]", self.send("GET", path, query=query))

    def workbench_checks_create(self, id: int, body: models.CheckRequest) -> dict[str, Any]:
        """Return what checks of a draft found; POST asks what one needs, or says (`estimate`) what it takes.
        """
        path = f"/workbench/{self.quoted(id)}/checks/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def workbench_disagreements_retrieve(
        self,
        id: int,
        *,
        direction: Literal["higher", "lower"] | None = None,
        judged: str | None = None,
        question: str | None = None,
        system: str | None = None,
    ) -> dict[str, Any]:
        """List where a draft or judge and people disagree, largest share of the scale first."""
        path = f"/workbench/{self.quoted(id)}/disagreements/"
        query = {
            "direction": direction,
            "judged": judged,
            "question": question,
            "system": system,
        }
        return cast("dict[str, Any]", self.send("GET", path, query=query))

    def drafts_try(self, id: int, body: models.TryRequest) -> dict[str, Any]:
        """Write a draft and try it on the bench's first targets; with `estimate` say only what that takes.
        """
        path = f"/workbench/{self.quoted(id)}/drafts/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def drafts_read(self, id: int, number: int) -> dict[str, Any]:
        """Return a draft with its text, how far it is, the agreement so far, and all answers beside
        people's.
        """
        path = f"/workbench/{self.quoted(id)}/drafts/{self.quoted(number)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def drafts_act(
        self,
        id: int,
        number: int,
        verb: str,
        body: models.KeepRequest | None = None,
    ) -> dict[str, Any]:
        """Cancel a draft, ask again for what failed (`retry`), keep it as a version, or throw it away.
        """
        path = f"/workbench/{self.quoted(id)}/drafts/{self.quoted(number)}/{self.quoted(verb)}/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def workbench_marks_retrieve(self, id: int) -> dict[str, Any]:
        """Return the marks that stand, and their numbers; POST says who is wrong (`withdrawn` takes it
        back).
        """
        path = f"/workbench/{self.quoted(id)}/marks/"
        return cast("dict[str, Any]", self.send("GET", path))

    def workbench_marks_create(self, id: int, body: models.MarkRequest) -> dict[str, Any]:
        """Return the marks that stand, and their numbers; POST says who is wrong (`withdrawn` takes it
        back).
        """
        path = f"/workbench/{self.quoted(id)}/marks/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def searches_list(self, id: int) -> dict[str, Any]:
        """List a bench's searches, latest first; POST starts one."""
        path = f"/workbench/{self.quoted(id)}/searches/"
        return cast("dict[str, Any]", self.send("GET", path))

    def searches_start(self, id: int, body: models.NewSearchRequest) -> dict[str, Any]:
        """List a bench's searches, latest first; POST starts one."""
        path = f"/workbench/{self.quoted(id)}/searches/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def searches_read(self, id: int, search: int) -> dict[str, Any]:
        """Return a search: how far it is, what it took, its texts and what they are worth."""
        path = f"/workbench/{self.quoted(id)}/searches/{self.quoted(search)}/"
        return cast("dict[str, Any]", self.send("GET", path))

    def searches_act(
        self,
        id: int,
        search: int,
        verb: str,
        body: models.SearchActRequest | None = None,
    ) -> dict[str, Any]:
        """Cancel or resume a search, or adopt one of its proposals."""
        path = f"/workbench/{self.quoted(id)}/searches/{self.quoted(search)}/{self.quoted(verb)}/"
        return cast("dict[str, Any]", self.send("POST", path, body=body, keyed=True))

    def workbench_versions_retrieve(self, id: int, *, with_: str | None = None) -> dict[str, Any]:
        """Put all versions and drafts of a bench side by side, each compared with a chosen one."""
        path = f"/workbench/{self.quoted(id)}/versions/"
        query = {
            "with": with_,
        }
        return cast("dict[str, Any]", self.send("GET", path, query=query))
