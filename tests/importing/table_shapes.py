"""Small tables in other people's forms, written by us, each with its right reading."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A small table in somebody's form, and its right reading: what of the mapping each column is.

    `unclear` is a part of the doubt for which the reading is not certain, empty where it is.
    """

    name: str
    text: str
    key: str
    columns: tuple[str, ...]
    unclear: str = ""
    suffix: str = ".csv"


def jsonl(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def csv_text(*rows: list[str]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


SHAPES = (
    Shape(
        "turns of a support chat",
        "conv_id,author,utterance,ts\n1,customer,Where is my order?,10:14\n"
        "1,bot,It left our depot today.,10:15\n"
        "2,customer,Hello there you,11:00\n2,bot,Good morning to you!,11:01\n",
        "turns",
        ("dialogue=conv_id", "speaker=author", "text=utterance", "time=ts"),
    ),
    Shape(
        "turns with a person's and a judge's labels",
        "conv_id,author,utterance,ts,anna_quality,gpt_quality,row\n4711,customer,My order is late,10:14,,,1\n"
        "4711,bot,I am sorry to hear that,10:15,4,4,2\n4711,customer,Can I cancel it?,10:16,,,3\n"
        "4711,bot,Of course you can,10:17,5,-,4\n4712,customer,Hello my friend,11:00,,,5\n"
        "4712,bot,How can I help?,11:01,3,2,6\n4712,customer,No idea at all,11:02,,,7\n"
        "4712,bot,Then have a nice day,11:03,4,1,8\n",
        "turns",
        (
            *("dialogue=conv_id", "speaker=author", "text=utterance", "time=ts"),
            *("label:quality@anna=anna_quality", "judge:quality@gpt=gpt_quality"),
        ),
    ),
    Shape(
        "motivational interviews, a row for each annotator",
        "transcript_id,topic,utterance_id,interlocutor,timestamp,utterance_text,annotator_id,main_therapist_behaviour\n"
        "0,smoking,0,therapist,00:00:13,Thanks for filling it out.,3,question\n"
        "0,smoking,0,therapist,00:00:13,Thanks for filling it out.,4,reflection\n"
        "0,smoking,1,client,00:00:24,Sure I did that.,3,n/a\n"
        "0,smoking,1,client,00:00:24,Sure I did that.,4,n/a\n"
        "1,alcohol,0,therapist,00:00:01,So how are you?,3,question\n"
        "1,alcohol,0,therapist,00:00:01,So how are you?,4,question\n"
        "1,alcohol,1,client,00:00:05,I am well thanks.,3,n/a\n"
        "1,alcohol,1,client,00:00:05,I am well thanks.,4,n/a\n",
        "turns",
        (
            *("dialogue=transcript_id", "turn=utterance_id", "speaker=interlocutor", "time=timestamp"),
            *("text=utterance_text", "rater=annotator_id", "metadata=topic"),
            "label:main_therapist_behaviour=main_therapist_behaviour",
        ),
    ),
    Shape(
        "Chinese headers",
        "对话ID,说话人,内容,评分\n1,用户,你好请问今天天气怎么样,\n1,机器人,今天天气晴朗温度二十度,5\n"
        "2,用户,帮我订一张明天的火车票,\n2,机器人,好的请问您要去哪里呢,4\n",
        "turns",
        ("dialogue=对话ID", "speaker=说话人", "text=内容", "label:评分=评分"),
        "no column says who answered",
    ),
    Shape(
        "German headers with semicolons",
        "Gespräch;Sprecher;Äußerung;Zeit\n1;Kunde;Wo ist mein Paket?;10:00\n"
        "1;Agent;Es ist unterwegs zu Ihnen.;10:01\n"
        "2;Kunde;Guten Tag zusammen!;11:00\n2;Agent;Was kann ich für Sie tun?;11:02\n",
        "turns",
        ("dialogue=Gespräch", "speaker=Sprecher", "text=Äußerung", "time=Zeit"),
    ),
    Shape(
        "sentences of one turn in several rows",
        "dialog_id,turn,speaker,sentence\nd1,1,A,I went to town.\nd1,1,A,Then I came back.\n"
        "d1,2,B,Did you buy something?\n"
        "d2,1,A,What a lovely day.\nd2,2,B,It is indeed one.\n",
        "turns",
        ("dialogue=dialog_id", "turn=turn", "speaker=speaker", "text=sentence"),
    ),
    Shape(
        "an id and a name of each speaker",
        "session_id,utt_id,speaker_id,speaker_name,text\ns1,u1,p1,Ana,How are you today?\n"
        "s1,u2,p2,Ben,Very well thank you.\n"
        "s2,u3,p1,Ana,Shall we begin now?\ns2,u4,p2,Ben,Yes let us begin.\n",
        "turns",
        ("dialogue=session_id", "turn=utt_id", "speaker=speaker_name", "text=text"),
    ),
    Shape(
        "messages in JSON",
        jsonl(
            {
                "id": "a",
                "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
            },
            {
                "id": "b",
                "messages": [{"role": "user", "content": "Bye"}, {"role": "assistant", "content": "See you"}],
            },
        ),
        "messages",
        ("dialogue=id", "speaker=messages[].role", "text=messages[].content"),
        suffix=".jsonl",
    ),
    Shape(
        "conversations in JSON, with from and value",
        jsonl(
            {
                "id": "a",
                "conversations": [{"from": "human", "value": "Hello"}, {"from": "gpt", "value": "Hi"}],
            },
            {
                "id": "b",
                "conversations": [{"from": "human", "value": "Bye"}, {"from": "gpt", "value": "See you"}],
            },
        ),
        "messages",
        ("dialogue=id", "speaker=conversations[].from", "text=conversations[].value"),
        suffix=".jsonl",
    ),
    Shape(
        "utterances in JSON with a judge's verdict and its reason",
        jsonl(
            *(
                {
                    "dialogue_id": f"d{n}",
                    "turns": [
                        {"speaker": "U", "utterance": "hello there"},
                        {"speaker": "S", "utterance": "hi you"},
                    ],
                    "gpt4_coherent": n % 3 + 1,
                    "gpt4_coherent_reason": f"It is fine because of number {n}.",
                }
                for n in range(4)
            )
        ),
        "messages",
        (
            *("dialogue=dialogue_id", "speaker=turns[].speaker", "text=turns[].utterance"),
            *("judge:coherent@gpt4=gpt4_coherent", "explanation:coherent@gpt4=gpt4_coherent_reason"),
        ),
        suffix=".jsonl",
    ),
    Shape(
        "texts in JSON without speakers",
        jsonl(
            {"dialog": ["How are you today ?", "I am fine , thank you ."], "act": [2, 1]},
            {"dialog": ["What is the time now ?", "It is half past two ."], "act": [2, 1]},
        ),
        "messages",
        ("transcript=dialog[]", "label[turn]:act=act[]"),
        "nothing says who speaks",
        suffix=".jsonl",
    ),
    Shape(
        "prompts and responses",
        "id,prompt,response\n1,What is the capital of France?,The capital is Paris.\n"
        "2,Tell me a short joke.,Why did the chicken cross?\n",
        "cells",
        ("dialogue=id", "utterance:user=prompt", "utterance:assistant=response"),
    ),
    Shape(
        "questions and answers, with labels of two people",
        "qid,question,answer,rater1_correct,rater2_correct\n"
        "q1,Who wrote Hamlet back then?,William Shakespeare wrote it.,yes,yes\n"
        "q2,Where is Oslo on the map?,It is in Norway.,yes,no\n"
        "q3,What is a cell made of?,Mostly out of water.,no,no\n",
        "cells",
        (
            *("dialogue=qid", "utterance:user=question", "utterance:assistant=answer"),
            *("label[turn]:correct@rater1=rater1_correct", "label[turn]:correct@rater2=rater2_correct"),
        ),
    ),
    Shape(
        "a batch of MTurk",
        "HITId,HITTypeId,Title,AssignmentId,WorkerId,Input.id,Input.prompt,Input.response,Answer.helpful,Answer.fluent\n"
        "H1,T,Rate,A1,W1,7,Where is my lost parcel?,It is on the way.,4,5\n"
        "H1,T,Rate,A2,W2,7,Where is my lost parcel?,It is on the way.,3,5\n"
        "H2,T,Rate,A3,W1,8,Can you help me please?,Yes of course I can.,2,4\n"
        "H2,T,Rate,A4,W2,8,Can you help me please?,Yes of course I can.,1,4\n",
        "cells",
        (
            *("dialogue=item", "rater=WorkerId", "utterance:user=Input.prompt"),
            *("utterance:assistant=Input.response", "label[turn]:helpful=Answer.helpful"),
            "label[turn]:fluent=Answer.fluent",
        ),
    ),
    Shape(
        "Toloka's assignments",
        "INPUT:id\tINPUT:text\tOUTPUT:result\tGOLDEN:result\tHINT:text\tASSIGNMENT:worker_id\n"
        "1\tWhat a lovely day it is\tOK\t\t\tw1\n1\tWhat a lovely day it is\tBAD\t\t\tw2\n"
        "2\tThis is not so good\tBAD\t\t\tw1\n2\tThis is not so good\tBAD\t\t\tw2\n",
        "turns",
        (
            *("dialogue=item", "text=INPUT:text", "label:result=OUTPUT:result"),
            "rater=ASSIGNMENT:worker_id",
        ),
        suffix=".tsv",
    ),
    Shape(
        "a context with a response and ratings of three people",
        csv_text(
            ["context", "response", "system", "annotator_1", "annotator_2", "annotator_3"],
            ["User: Hi!\nSystem: Hello you!\nUser: How are you?", "I am very well.", "Meena", "2", "1", "2"],
            [
                "User: Bye!\nSystem: Leaving already?\nUser: Yes I am.",
                "See you soon.",
                "Mitsuku",
                "0",
                "1",
                "2",
            ],
            [
                "User: Hey!\nSystem: What is up?\nUser: Nothing much.",
                "Same over here.",
                "Meena",
                "1",
                "1",
                "2",
            ],
        ),
        "cells",
        (
            *("transcript=context", "utterance:assistant=response", "system=system"),
            *("label[turn]@annotator_1=annotator_1", "label[turn]@annotator_2=annotator_2"),
            "label[turn]@annotator_3=annotator_3",
        ),
    ),
    Shape(
        "all turns in one cell",
        csv_text(
            ["dialogue_id", "dialogue", "score"],
            ["1", "A: How are you?\nB: Very well, thanks.", "4"],
            ["2", "A: Where are you going?\nB: Home.", "2"],
            ["3", "A: What is that?\nB: No idea.", "5"],
        ),
        "transcript",
        ("dialogue=dialogue_id", "transcript=dialogue", "label[dialogue]:score=score"),
        "no column says who answered",
    ),
    Shape(
        "turns between marks",
        "id,text\n1,Hello ! __eou__ Hi how are you ? __eou__ Fine . __eou__\n"
        "2,Bye ! __eou__ See you . __eou__\n",
        "transcript",
        ("dialogue=id", "transcript=text"),
    ),
    Shape(
        "responses of three systems",
        "prompt,gpt-4o,claude-3-opus,llama-3-8b\nTell me a joke please.,Why did the hen cross?,There was"
        " a horse once.,Knock knock who is there?\n"
        "Name a large city.,I would say Tokyo.,Perhaps it is Delhi.,Maybe it is Lagos.\n",
        "responses",
        (
            *("utterance:user=prompt", "response:gpt-4o=gpt-4o", "response:claude-3-opus=claude-3-opus"),
            "response:llama-3-8b=llama-3-8b",
        ),
    ),
    Shape(
        "long ratings in Concord's columns",
        "item,rater,value,question,cluster,kind\nd0/0,ann,1,q,d0,human\nd0/0,gpt,0,q,d0,judge\n"
        "d1/0,ann,0,q,d1,human\nd1/0,gpt,0,q,d1,judge\n",
        "long",
        ("item=item", "rater=rater", "value=value", "question=question", "cluster=cluster", "kind=kind"),
    ),
    Shape(
        "long ratings in words of others",
        "example_id,annotator,dimension,score\n1,ann,fluency,4\n1,ben,fluency,5\n1,ann,coherence,2\n"
        "1,ben,coherence,3\n"
        "2,ann,fluency,1\n2,ben,fluency,2\n2,ann,coherence,5\n2,ben,coherence,5\n",
        "long",
        ("item=example_id", "rater=annotator", "question=dimension", "value=score"),
    ),
    Shape(
        "one label of each annotator a row",
        "doc_id,worker_id,label\n1,w1,spam\n1,w2,ham\n2,w1,ham\n2,w2,ham\n3,w1,spam\n3,w2,spam\n",
        "long",
        ("item=doc_id", "rater=worker_id", "value=label"),
    ),
    Shape(
        "a person's label beside a judge's",
        "id,human_label,judge_label\n1,yes,yes\n2,no,yes\n3,no,no\n",
        "wide",
        ("item=id", "label:label@human=human_label", "judge:label@judge=judge_label"),
    ),
    Shape(
        "two people, a model and the answer key",
        "sample_id,annotator_1,annotator_2,gpt-4o,gold\n1,A,A,B,A\n2,B,B,B,B\n3,A,B,A,A\n4,C,C,C,C\n",
        "wide",
        (
            *("item=sample_id", "label@annotator_1=annotator_1", "label@annotator_2=annotator_2"),
            *("judge@gpt-4o=gpt-4o", "key@gold=gold"),
        ),
    ),
    Shape(
        "a column for each rater and question",
        "item,ann1_helpful,ann1_fluent,ann2_helpful,ann2_fluent,gpt4_helpful,gpt4_fluent,gpt4_helpful_reason\n"
        "a,1,5,2,4,1,4,It does not help me.\nb,3,4,3,4,2,4,It helps me a bit.\n"
        "c,5,5,4,5,5,5,It helps me a lot.\n",
        "wide",
        (
            *("item=item", "label:helpful@ann1=ann1_helpful", "label:fluent@ann1=ann1_fluent"),
            *("label:helpful@ann2=ann2_helpful", "label:fluent@ann2=ann2_fluent"),
            *("judge:helpful@gpt4=gpt4_helpful", "judge:fluent@gpt4=gpt4_fluent"),
            "explanation:helpful@gpt4=gpt4_helpful_reason",
        ),
    ),
    Shape(
        "raters behind their questions",
        "ID,helpfulness (Rater 1),helpfulness (Rater 2),tone (Rater 1),tone (Rater 2)\n1,4,5,2,2\n"
        "2,3,3,1,2\n3,1,2,3,3\n",
        "wide",
        (
            *("item=ID", "label:helpfulness@Rater 1=helpfulness (Rater 1)"),
            *("label:helpfulness@Rater 2=helpfulness (Rater 2)", "label:tone@Rater 1=tone (Rater 1)"),
            "label:tone@Rater 2=tone (Rater 2)",
        ),
    ),
    Shape(
        "raters in brackets",
        "Item,Helpful [ann1],Helpful [ann2],Safe [ann1],Safe [ann2]\n1,4,5,1,1\n2,3,3,0,1\n3,1,2,0,0\n",
        "wide",
        (
            *("item=Item", "label:Helpful@ann1=Helpful [ann1]", "label:Helpful@ann2=Helpful [ann2]"),
            *("label:Safe@ann1=Safe [ann1]", "label:Safe@ann2=Safe [ann2]"),
        ),
    ),
    Shape(
        "raters by their first names and questions",
        "item,alice_helpful,alice_clear,bob_helpful,bob_clear\n1,4,5,1,1\n2,3,3,4,1\n3,1,2,2,5\n",
        "wide",
        (
            *("item=item", "label:helpful@alice=alice_helpful", "label:clear@alice=alice_clear"),
            *("label:helpful@bob=bob_helpful", "label:clear@bob=bob_clear"),
        ),
    ),
    Shape(
        "raters by their first names alone",
        "item,alice,bob\n1,4,5\n2,3,3\n3,1,2\n",
        "wide",
        ("item=item", "label@alice=alice", "label@bob=bob"),
        "may be raters or questions",
    ),
    Shape(
        "one column a question, and a rater",
        "item_id,annotator_id,fluency,coherence,relevance,comment\n1,a,4,5,3,\n1,b,3,5,2,not so good\n"
        "2,a,1,2,3,\n2,b,2,2,4,\n",
        "wide",
        (
            *("item=item_id", "rater=annotator_id", "label:fluency=fluency", "label:coherence=coherence"),
            *("label:relevance=relevance", "explanation=comment"),
        ),
    ),
    Shape(
        "one column a question, nobody named",
        "id,fluency,coherence\n1,4,5\n2,3,5\n3,1,2\n",
        "wide",
        ("item=id", "label:fluency=fluency", "label:coherence=coherence"),
        "no column says who answered",
    ),
    Shape(
        "expert and crowd ratings of summaries",
        "doc_id,expert_1_coherence,expert_2_coherence,expert_1_fluency,expert_2_fluency,bleu\n"
        "d1,1,2,5,5,0.31\nd2,3,3,4,5,0.22\nd3,5,4,5,4,0.4\n",
        "wide",
        (
            *("item=doc_id", "label:coherence@expert_1=expert_1_coherence"),
            *("label:coherence@expert_2=expert_2_coherence", "label:fluency@expert_1=expert_1_fluency"),
            *("label:fluency@expert_2=expert_2_fluency", "metric@bleu=bleu"),
        ),
        "",
    ),
    Shape(
        "pandas with its index, and figures of its own",
        ",item,ann1,ann2,mean,length\n0,a,1,1,1.0,10\n1,b,2,1,1.5,25\n2,c,3,3,3.0,7\n3,d,2,2,2.0,4\n",
        "wide",
        ("item=item", "label@ann1=ann1", "label@ann2=ann2"),
    ),
    Shape(
        "no column names the item",
        "human_score,llm_score\n4,5\n3,3\n1,2\n5,5\n",
        "wide",
        ("label:score@human=human_score", "judge:score@llm=llm_score"),
    ),
    Shape(
        "scores of one person in several rounds",
        "id,human_score_1,human_score_2,llm_judge_score\n1,4,5,4\n2,3,3,2\n3,1,2,1\n",
        "wide",
        (
            *("item=id", "label:score@human 1=human_score_1", "label:score@human 2=human_score_2"),
            "judge:score@llm_judge=llm_judge_score",
        ),
    ),
    Shape(
        "decimal commas and semicolons",
        "id;bewerter1;bewerter2\n1;3,5;4,0\n2;2,5;2,0\n3;1,5;1,0\n",
        "wide",
        ("item=id", "label@bewerter1=bewerter1", "label@bewerter2=bewerter2"),
    ),
    Shape(
        "a form of Google about several dialogues",
        csv_text(
            ["Timestamp", "Email Address", "How helpful? [Dialogue 1]", "How helpful? [Dialogue 2]"],
            ["2024/03/01 10:00:00", "a@example.org", "4", "2"],
            ["2024/03/01 10:05:00", "b@example.org", "5", "1"],
            ["2024/03/01 10:09:00", "c@example.org", "3", "1"],
        ),
        "survey",
        (
            "rater=Email Address",
            "label[Dialogue 1]:How helpful?=How helpful? [Dialogue 1]",
            "label[Dialogue 2]:How helpful?=How helpful? [Dialogue 2]",
        ),
    ),
    Shape(
        "a survey of Qualtrics, with three rows of headers",
        csv_text(
            ["StartDate", "EndDate", "ResponseId", "D1_clear", "D2_clear"],
            ["Start Date", "End Date", "Response ID", "Is it clear? - D1", "Is it clear? - D2"],
            [
                json.dumps({"ImportId": name})
                for name in ("startDate", "endDate", "_recordId", "QID1", "QID2")
            ],
            ["2024-03-01 10:00:00", "2024-03-01 10:05:00", "R_1", "2 - Strongly present", "0 - Absent"],
            ["2024-03-01 11:00:00", "2024-03-01 11:05:00", "R_2", "1 - Present", "0 - Absent"],
        ),
        "survey",
        ("rater=ResponseId", "label[D1]:Is it clear?=D1_clear", "label[D2]:Is it clear?=D2_clear"),
    ),
    Shape(
        "people in rows and items in columns",
        "participant_id,item1,item2,item3\np1,4,5,1\np2,4,4,2\np3,5,4,1\n",
        "survey",
        ("rater=participant_id", "label[item1]=item1", "label[item2]=item2", "label[item3]=item3"),
    ),
    Shape(
        "labels of Potato",
        "user,instance_id,displayed_text,sentiment\nann,1,I like this a lot,positive\n"
        "ben,1,I like this a lot,positive\n"
        "ann,2,I hate it so much,negative\nben,2,I hate it so much,neutral\n",
        "wide",
        ("item=instance_id", "rater=user", "label:sentiment=sentiment"),
    ),
    Shape(
        "agreement in words",
        "item,coder_a,coder_b\n1,Agree,Strongly agree\n2,Disagree,Neutral\n3,Agree,Agree\n",
        "wide",
        ("item=item", "label@coder_a=coder_a", "label@coder_b=coder_b"),
    ),
    Shape(
        "sets of topics",
        "item,r1,r2\n1,9;5;6,9;5\n2,5,5\n3,6;9,9;6\n",
        "wide",
        ("item=item", "label@r1=r1", "label@r2=r2"),
    ),
    Shape(
        "unsure beside yes and no",
        "item,r1,r2\n1,yes,yes\n2,no,unsure\n3,yes,no\n",
        "wide",
        ("item=item", "label@r1=r1", "label@r2=r2"),
        "'unsure' may be no answer",
    ),
    Shape(
        "a person who may be a model",
        "item,rater,value\n1,Claude,yes\n1,Marie,no\n2,Claude,no\n2,Marie,no\n",
        "long",
        ("item=item", "rater=rater", "value=value"),
        "Claude may be a person or a model",
    ),
    Shape(
        "a context and a response with two people's answers to two questions",
        "dialog_id,context,response,model,annotator_1_Natural,annotator_1_Overall,annotator_2_Natural,annotator_2_Overall\n"
        "1,hi there you,hello how are you,gen,3,5,2,4\n2,what is that thing,that is a dog,orig,1,2,2,1\n"
        "3,do you like it,no not really,gen,2,3,3,3\n",
        "cells",
        (
            *("dialogue=dialog_id", "utterance:user=context", "utterance:assistant=response", "system=model"),
            *(
                "label[turn]:Natural@annotator_1=annotator_1_Natural",
                "label[turn]:Overall@annotator_1=annotator_1_Overall",
            ),
            *(
                "label[turn]:Natural@annotator_2=annotator_2_Natural",
                "label[turn]:Overall@annotator_2=annotator_2_Overall",
            ),
        ),
    ),
    Shape(
        "turns with a number for each speaker",
        "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags\n"
        "hit:0_conv:1,1,sentimental,I remember the fireworks,1,I remember it well,5|5|5_2|2|5,\n"
        "hit:0_conv:1,2,sentimental,I remember the fireworks,2,Was it somebody you loved?,5|5|5_2|2|5,\n"
        "hit:1_conv:3,1,afraid,I was in the dark,3,It was dark in there,4|3|4_5|5|5,\n"
        "hit:1_conv:3,2,afraid,I was in the dark,4,Oh no that is bad,4|3|4_5|5|5,\n",
        "turns",
        (
            *("dialogue=conv_id", "turn=utterance_idx", "speaker=speaker_idx", "text=utterance"),
            *("metadata=context", "metadata=prompt"),
        ),
    ),
    Shape(
        "lines of a series with emotions",
        "Sr No.,Utterance,Speaker,Emotion,Dialogue_ID,Utterance_ID,Episode\n"
        "1,So what do you say?,Ana,neutral,0,0,1\n"
        "2,I say it is late.,Ben,anger,0,1,1\n3,How nice of you!,Ana,joy,1,0,2\n"
        "4,It is nothing at all.,Ben,neutral,1,1,2\n",
        "turns",
        (
            *("dialogue=Dialogue_ID", "turn=Utterance_ID", "speaker=Speaker", "text=Utterance"),
            "label:Emotion=Emotion",
        ),
        "no column says who answered",
    ),
    Shape(
        "messages with their parents",
        "message_id,parent_id,text,role,message_tree_id\nm1,,What is a monopsony then?,prompter,m1\n"
        "m2,m1,It is a market with one buyer.,assistant,m1\nm3,,Tell me a joke please now,prompter,m3\n"
        "m4,m3,Why did the hen cross?,assistant,m3\n",
        "turns",
        ("dialogue=message_tree_id", "turn=message_id", "speaker=role", "text=text"),
        "parent_id may make a tree",
    ),
    Shape(
        "instructions and outputs",
        jsonl(
            {"instruction": "Give three tips for it.", "input": "", "output": "One, two and three tips."},
            {"instruction": "Name the primary colours.", "input": "", "output": "Red, blue and yellow."},
        ),
        "cells",
        ("utterance:user=instruction", "utterance:assistant=output"),
        suffix=".jsonl",
    ),
    Shape(
        "three people, a judge and its reasons",
        "item_id,human_1,human_2,human_3,gpt4_score,gpt4_reasoning\ni1,1,2,1,1,It is because of this.\n"
        "i2,4,5,4,3,It is because of that.\ni3,3,3,2,3,It is so for a reason.\n",
        "wide",
        (
            *("item=item_id", "label:score@human_1=human_1", "label:score@human_2=human_2"),
            *("label:score@human_3=human_3", "judge:score@gpt4=gpt4_score"),
            "explanation:score@gpt4=gpt4_reasoning",
        ),
    ),
    Shape(
        "exchanges of sessions with thumbs",
        "timestamp,session_id,user_message,bot_response,thumbs,model\n"
        "2024-01-01T10:00:00Z,s0,How do I do it now?,You do it like so.,up,gpt-4o\n"
        "2024-01-01T10:01:00Z,s0,And then what comes next?,Then you are done.,down,gpt-4o\n"
        "2024-01-02T10:00:00Z,s1,Can you help me now?,Of course I can help.,up,gpt-4o\n",
        "cells",
        (
            *("dialogue=session_id", "utterance:user=user_message", "utterance:assistant=bot_response"),
            *("label[turn]:thumbs=thumbs", "system=model"),
        ),
        "no column says who answered",
    ),
    Shape(
        "turns rated by two people, with signs in the headers",
        "Dialog ID,Speaker,Utterance,Annotator 1: Empathy,Annotator 2: Empathy\n"
        "d1,Client,I am so tired now,,\n"
        "d1,Therapist,Tell me more about it,3,2\nd1,Client,I cannot sleep at all,,\n"
        "d1,Therapist,That must be hard,1,2\n"
        "d2,Client,I had a good day,,\nd2,Therapist,I am glad to hear it,0,1\n"
        "d2,Client,Thank you for that,,\nd2,Therapist,You are most welcome,2,2\n",
        "turns",
        (
            *("dialogue=Dialog ID", "speaker=Speaker", "text=Utterance"),
            *(
                "label:Empathy@Annotator 1=Annotator 1: Empathy",
                "label:Empathy@Annotator 2=Annotator 2: Empathy",
            ),
        ),
    ),
    Shape(
        "statements to agree with, and a rater",
        "Dialogue,Rater,The bot is helpful,The bot is polite\nD0,R0,Agree,Agree\nD0,R1,Strongly agree,Agree\n"
        "D1,R0,Neutral,Disagree\nD1,R1,Disagree,Neutral\n",
        "wide",
        (
            *("dialogue=Dialogue", "rater=Rater", "label:The bot is helpful=The bot is helpful"),
            "label:The bot is polite=The bot is polite",
        ),
    ),
    Shape(
        "numbered questions of nobody in particular",
        "id,q1,q2\n1,4,5\n2,2,1\n3,5,5\n",
        "wide",
        ("item=id", "label:q1=q1", "label:q2=q2"),
        "no column says who answered",
    ),
)
