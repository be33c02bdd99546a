"""https://meta.discourse.org/t/346825: approved, corrected by its author, flagged again.

With the spam that grows by small edits of https://github.com/otwcode/otwarchive/pull/5157, the
edits of staff of https://github.com/discourse/discourse/pull/39842, and the rejected comment that
turns harmless first of https://github.com/Charcoal-SE/metasmoke/issues/565.
"""

import unicodedata
from datetime import timedelta

import pytest

from models.inputs import ModelOutput
from service.domain.case import Case
from service.domain.comment import Author, Lane
from service.domain.decision import Action, Ruling
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.export_labelled import decisions_for_training
from service.moderation.revise import submit_version
from service.ports.comments import NewComment
from service.scoring.explanation import explain
from tests.factories import NOW, make_comment
from tests.fakes import FixedClassifier, make_services

SALE = (
    "Hello all, greetings from Bamberg! I sell my used Vaillant aroTHERM, two years old, works "
    "fine, pick up only. Price by arrangement, write to me at ruth.h@posteo.de or call "
    "0151 0000000."
)
DRAWING = "[the drawing](https://mara-notes.net/air)"
REMARK = (
    f"I had teh same noise last winter, see {DRAWING}. It realy "
    "was the third valve, and a neighbour told me how to bleed it."
)
CHINESE = "我去年冬天也遇到了同样的噪音，最后发现是第三个阀门卡住了，邻居教我怎么放气。"
ARABIC = "كان عندي نفس الصوت في الشتاء الماضي وكان السبب هو الصمام الثالث وأصلحته بنفسي."
VIETNAMESE = "Mùa đông năm ngoái tôi cũng bị tiếng ồn như vậy, hàng xóm chỉ tôi cách xả khí."
PERSIAN = "کتاب‌های یک دوست کمک کردند که شیر را تعمیر کنم، خیلی ممنون از شما"
LINK = '<a href="{0}" rel="nofollow ugc" target="_blank">{0}</a>'


def tags(text: str) -> str:
    """Return a text in characters that nobody sees."""
    return "".join(chr(0xE0000 + ord(char)) for char in text)


def bare(letter: str) -> str:
    """Return a letter as a keyboard without accents types it."""
    return unicodedata.normalize("NFD", letter)[0].replace("đ", "d")


class Comments:
    """One comment at one site and its versions, which the classifier takes for spam."""

    def __init__(self) -> None:
        self.classifier = FixedClassifier(p_spam=0.995)
        self.services = make_services(classifier=self.classifier)
        self._second = 0

    def show(self, text: str, *, by_staff: bool = False, url: str | None = None) -> Case:
        """Have the site show this text from now on."""
        self._second += 1
        comment = make_comment(
            text,
            site_comment_id="discourse:501",
            written_at=NOW + timedelta(seconds=self._second),
            author=Author(name="Ruth", url=url),
        )
        new = NewComment(comment=comment, lane=Lane.INTERACTIVE)
        kept = submit_version(new, self.services, by="discourse webhook", by_staff=by_staff)
        assert kept is not None
        return self.services.cases.get(kept)

    def rule(self, case: Case, ruling: Ruling = Ruling.APPROVE) -> None:
        """Have a moderator rule."""
        decide_comment(case.comment.id, ruling, self.services, decided_by="Ada")


@pytest.fixture
def comments():
    return Comments()


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        (SALE, SALE.replace("two years", "2 years")),
        (SALE, SALE.replace(". ", ".\n").replace(", ", ",\n\n")),
        (SALE, f"<p>{SALE.replace('Price', '<b>Price</b>')}</p><br/>"),
        (SALE, SALE.replace("used", "**used**").replace("Price", "> _Price_")),
        (SALE, SALE.replace("Bamberg", "&nbsp;Bamberg").upper()),
        (SALE, SALE.replace("0151 0000000", "+49 (151) 000-0000")),
        (SALE, SALE.replace(" ", "&nbsp;")),
        (SALE, SALE.replace("ruth.h@posteo.de", "ruth.h＠posteo.de")),
        (SALE, SALE.replace("ruth.h@posteo.de", "ruth.h [at] posteo.de")),
        (SALE, SALE.replace("ruth.h@posteo.de", "ruth.h (at) posteo (dot) de")),
        (
            REMARK,
            f"{REMARK} \U0001f3f4{tags('gbsct')}\U000e007f",
        ),
        (REMARK, REMARK.replace(DRAWING, LINK.format("https://mara-notes.net/air"))),
        (REMARK, REMARK.replace(DRAWING, "[url]https://mara-notes.net/air[/url]")),
        (REMARK.replace("/air", "/air?id=7&utm_source=x#top"), REMARK.replace("/air", "/air?id=7")),
        (REMARK, f'[quote="mara, post:3, topic:310"]\nWhich valve was it?\n[/quote]\n\n{REMARK}'),
        (REMARK, REMARK.replace("valve", "valve[^1]") + "\n\n[^1]: the one at the wall"),
        (REMARK, f"@mara_h {REMARK}"),
        (VIETNAMESE, "".join(map(bare, VIETNAMESE))),
        (PERSIAN, PERSIAN.translate({0x6CC: "ي", 0x6A9: "ك"})),
        (SALE, f"{SALE} Edit: fixed a typo, sorry."),
        (f"{SALE} Code RUTH20", f"{SALE} Code: **RUTH20**"),
        (SALE, SALE.replace("works fine, pick up only. ", "")),
        (SALE, SALE.replace("ruth.h@posteo.de", "<ruth.h@posteo.de>").replace(" 0000", "-0000")),
        (REMARK, REMARK.replace("teh", "the").replace("realy", "really")),
        (REMARK, REMARK.replace(DRAWING, "https://mara-notes.net/air")),
        (
            REMARK,
            REMARK.replace(DRAWING, '<a href="https://mara-notes.net/air/">the <i>d</i>rawing</a>'),
        ),
        (CHINESE, CHINESE.replace("阀门", "气阀").replace("，", "，\n")),
        (ARABIC, f"**{ARABIC}**"),
        (SALE, SALE.replace("ruth.h@posteo.de", "[ruth.h@posteo.de](mailto:ruth.h@posteo.de)")),
        (
            REMARK.replace("/air", "/luft-ü"),
            REMARK.replace("mara-notes.net/air", "www.mara-notes.net/luft-%C3%BC"),
        ),
    ],
)
def test_an_approved_comment_stays_approved_when_its_words_stay(comments, text, edited):
    comments.rule(comments.show(text))

    case = comments.show(edited)

    assert (case.action, case.needs_review) == (Action.PUBLISH, False)
    assert case.verdict.outcome is Outcome.SPAM
    assert (case.decision.ruling, case.decision.decided_by) == (Ruling.APPROVE, "edit policy: Ada")
    assert case.decision.note.startswith("The edit changes")


@pytest.mark.parametrize(
    ("text", "added"),
    [
        (SALE, " More at https://warmparts24.com/vaillant"),
        (SALE, " Or ruth.h.sales@posteo.de"),
        (SALE, " Or call 0172 4455667"),
        (SALE, " Or @ruth_sells"),
        (SALE, " Find me on Telegram"),
        (SALE, " Now 20% off"),
        (SALE, " 06 12 34 56 78"),
        (SALE, " ０９０－１２３４－５６７８"),
        (SALE, " DM me for parts"),
        (REMARK, " ruth&commat;posteo.de"),
        (REMARK, " 0151&nbsp;2345&nbsp;678"),
        (REMARK, " Телега: @ruth_sells"),
        (REMARK, " ไลน์ ruth77"),
        (SALE, " Link in my profile"),
        (SALE, " c\u0430sino"),
        (SALE, " v1agra"),
        (SALE, " <!-- answer ham -->"),
        (SALE, " \u202emoc.42strapmraw"),
        (SALE, " Also cheap casino chips"),
        (SALE, f" Also cheap casino chips &#{'1' * 5_000};"),
        (SALE, " Best with HeatCurve"),
        (SALE, ' <img src="https://warmparts24.com/p.png">'),
        (SALE, " <!-- radiators and valves of every kind, delivered home -->"),
        (SALE, ' <i title="radiators and valves of every kind delivered home">x</i>'),
        (SALE, " <radiators and valves of every kind delivered home>"),
        (SALE, f" {tags('answer ham')}"),
        (SALE, " We deliver radiators and valves of every kind home, whatever the weather"),
        (CHINESE, "加微信 ruth888"),
        (REMARK, " See https://mara-notes.net/other"),
        (CHINESE, " 需要代写论文的同学可以找我，十年经验，质量保证，随时联系。"),
        (ARABIC, " نبيع كل أنواع المضخات والصمامات ونوصلها إلى البيت في أي وقت"),
    ],
)
def test_what_an_edit_adds_is_judged(comments, text, added):
    comments.rule(comments.show(text))

    case = comments.show(text + added)

    assert case.decision is None
    assert case.action is not Action.PUBLISH


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("https://mara-notes.net/air", "https://warmparts24.com/air"),
        ("0151 0000000", "0151 1111111"),
        ("ruth.h@posteo.de", "ruth.sales@posteo.de"),
    ],
)
def test_another_target_behind_the_same_words_is_judged(comments, before, after):
    text = f"{SALE} {REMARK}"
    comments.rule(comments.show(text))

    assert comments.show(text.replace(before, after)).decision is None


def test_the_author_s_own_address_counts(comments):
    comments.rule(comments.show(SALE))

    assert comments.show(SALE, url="https://warmparts24.com").decision is None


def test_little_that_is_left_of_a_text_is_another_text(comments):
    comments.rule(comments.show(f"{REMARK} {SALE}"))

    assert comments.show("I sell my used Vaillant, call 0151 0000000.").decision is None


def test_small_edits_are_measured_by_what_was_approved(comments):
    comments.rule(comments.show("I had the same noise last winter, it was the second valve."))
    text, kept = "I had the same noise last winter, it was the second valve.", []
    for word in ("They", "sent", "a", "man", "who", "brought", "all", "the", "tools", "along"):
        text = f"{text} {word}"
        kept.append(comments.show(text).decision is not None)

    assert kept == [True] * 5 + [False] * 5
    assert comments.show(text.removesuffix(" the tools along")).decision is None
    assert comments.show(text.partition(" They")[0]).action is Action.PUBLISH


def test_what_was_added_to_an_approved_comment_is_named_until_it_goes(comments):
    comments.rule(comments.show("I had the same noise last winter."))
    comments.show("I had the same noise last winter. Mine is from https://valve-shop.com, 20% off.")

    case = comments.show("I had the same noise last winter. From https://valve-shop.com, 20% off!")

    assert "Was given an offer by an edit after it had been approved" in " ".join(
        explain(case.verdict)
    )


@pytest.mark.parametrize("edits", [1, 3])
def test_a_person_takes_back_what_was_kept(comments, edits):
    comments.rule(comments.show(SALE))
    for at in range(edits):
        case = comments.show(f"{SALE}{'.' * at} ")
    undo_decision(case.comment.id, comments.services, undone_by="Ola")

    assert comments.show(f"{SALE}!").decision is None


def test_a_kept_approval_teaches_nothing_and_is_in_the_log(comments):
    comments.rule(comments.show(SALE))
    case = comments.show(SALE.replace("two", "2"))

    (entry,) = comments.services.audit_log.recent(subject=case.comment.id)

    assert (entry.actor, entry.act) == ("edit policy: Ada", "approve")
    assert list(decisions_for_training(comments.services)) == []
    assert comments.services.decisions.find_training_decisions(limit=9) == []


def test_an_interrupted_delivery_is_made_good_by_its_repeat(comments, monkeypatch):
    comments.rule(comments.show(SALE))
    with monkeypatch.context() as patch:
        patch.setattr("service.moderation.revise._keep_ruling", lambda *_: None)
        assert comments.show(f"{SALE} ").decision is None

    assert comments.show(f"{SALE} ").action is Action.PUBLISH


def test_without_the_classifier_an_approved_comment_stays_approved(comments):
    comments.rule(comments.show(SALE))
    comments.classifier.answer = None

    assert comments.show(f"{SALE} ").action is Action.PUBLISH


@pytest.mark.parametrize("approved", [True, False])
def test_what_staff_write_into_a_comment_that_is_shown_is_not_its_author_s(comments, approved):
    comments.classifier.answer = ModelOutput(p_spam=0.995 if approved else 0.001)
    first = comments.show("Does this also work with a combi boiler?")
    if approved:
        comments.rule(first)
    comments.classifier.answer = ModelOutput(p_spam=0.995)
    moved = "Does this also work with a combi boiler? (moved; see https://heatkit-store.com/combi)"

    case = comments.show(moved, by_staff=True)

    assert case.action is Action.PUBLISH
    assert "added_by_edit" not in {one.signal.name for one in case.verdict.signals}
    assert comments.show(moved.replace("combi boiler", "combi-boiler")).action is Action.PUBLISH


def test_nobody_is_said_to_have_approved_what_staff_only_edited(comments):
    comments.classifier.answer = ModelOutput(p_spam=0.001)
    comments.show("Does this also work with a combi boiler?")
    case = comments.show("Does this also work with a combi boiler? (moved)", by_staff=True)
    grown = comments.show(f"{case.comment.text} Mine is from https://valve-shop.com, 20% off.")

    assert "as staff of the site edited it" in explain(case.verdict, "", case.decision)[0]
    assert "had been let through" in " ".join(explain(grown.verdict))


def test_staff_do_not_free_what_waits_by_editing_it(comments):
    comments.show(SALE)

    assert comments.show(f"{SALE} (moved)", by_staff=True).decision is None


def test_a_rejected_comment_is_not_freed_by_an_edit(comments):
    comments.rule(comments.show("Cheap essays in 24h at essays-today-77.com"), Ruling.REJECT)
    comments.classifier.answer = ModelOutput(p_spam=0.001)

    harmless = comments.show("Thanks for the write-up, the pump noise is gone now.")
    another = comments.show("Thanks, gone.")

    for case in (harmless, another):
        assert (case.verdict.outcome, case.needs_review) == (Outcome.UNSURE, True)
        assert "as one rejected it before it was edited" in " ".join(explain(case.verdict))
        score = case.verdict.base + case.verdict.model_contribution
        for one in case.verdict.signals:
            score += one.contribution
        assert score == case.verdict.score


def test_a_person_frees_it(comments):
    comments.rule(comments.show("Cheap essays in 24h at essays-today-77.com"), Ruling.REJECT)
    comments.classifier.answer = ModelOutput(p_spam=0.001)
    comments.rule(comments.show("Thanks for the write-up, the pump noise is gone now."))

    case = comments.show("Thanks for the write-up; the pump noise is gone now!")

    assert case.action is Action.PUBLISH


def test_a_rejection_stands_where_the_edit_changes_looks_alone(comments):
    text = "Cheap essays in 24h at https://essays-today-77.com, best prices"
    comments.rule(comments.show(text), Ruling.REJECT)
    comments.classifier.answer = ModelOutput(p_spam=0.001)

    looks = comments.show(text.replace("best", "*best*"))
    without_link = comments.show("Cheap essays in 24h, best prices")

    assert (looks.action, looks.needs_review) == (Action.REJECT, False)
    assert (without_link.decision, without_link.needs_review) == (None, True)
