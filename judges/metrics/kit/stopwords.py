"""Closed-class words of a few languages: what carries grammar rather than content."""

from __future__ import annotations

ENGLISH = """
a an the this that these those some any each every either neither no none all both such same
other another own i me my mine myself we us our ours ourselves you your yours yourself
yourselves he him his himself she her hers herself it its itself they them their theirs
themselves who whom whose which what am is are was were be been being do does did doing done
have has had having will would shall should can could may might must ought and or but nor so
yet if then else because as until while although though unless since whether than of at by
for with about against between into through during before after above below to from up down
in out on off over under again further once here there when where why how not only very too
just also even still more most much many few less least quite rather i'm you're he's she's
it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll
he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't
didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's who's
what's here's there's um uh er hmm mm oh ah well yeah yes okay ok
"""

CHINESE = """
的 了 着 过 吗 呢 吧 啊 呀 嘛 地 得 我 你 他 她 它 们 是 在 有 和 与 及 或
也 都 就 还 不 没 这 那 个 把 被 对 从 到 为
"""

JAPANESE = "の に は を が と で も へ や か ね よ な だ た て い る う し す れ さ ま あ こ そ ん"

ARABIC = """
في من على إلى عن مع هذا هذه ذلك تلك هو هي هم أنا نحن أنت
أنتم و أو ثم لكن أن إن لا ما لم لن قد كان كانت يكون كل بعض
أي كما إذا حتى عند بعد قبل بين التي الذي الذين ليس هل
"""

GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder aber denn weil dass wenn
als ob ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein dein sein
unser euer ist sind war waren bin bist sei wird werden wurde hat haben hatte nicht kein
keine auch nur noch schon sehr so wie was wer wo in im an am auf aus bei mit nach von vom zu
zum zur für über unter durch
"""

FRENCH = """
le la les un une des de du au aux et ou mais donc car que qui quoi dont où si je tu il elle
on nous vous ils elles me te se mon ma mes ton ta tes son sa ses notre nos votre vos leur
leurs ce cet cette ces est sont était être ai as a avons avez ont avait ne pas plus très
aussi dans en par pour sur sous avec sans
"""

SPANISH = """
el la los las un una unos unas de del al y o pero que quien cual si yo tú él ella nosotros
vosotros ellos ellas me te se nos mi tu su mis tus sus este esta estos estas ese esa es son
era ser está están he ha han no más muy también en por para sobre con sin como
"""

STOP_WORDS = frozenset(" ".join((ENGLISH, CHINESE, JAPANESE, ARABIC, GERMAN, FRENCH, SPANISH)).split())

PARTICLES = frozenset(
    ["的", "了", "着", "过", "吗", "呢", "吧", "啊", "呀", "嘛", "地", "得", "么", "哦", "啦"]
)
"""Chinese particles, 15 like those that the published code of MPCEval leaves out of contexts."""
