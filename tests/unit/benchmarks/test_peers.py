"""How comments reach other spam filters, and what a comparison keeps, refuses and admits."""

from __future__ import annotations

import email
import email.policy

import numpy as np
import pytest

from models.inputs import ModelInput
from service.domain.comment import Author, Post
from tests.benchmarks import peers
from tests.benchmarks.peer_filters import NotInstalledError, Rows, Scored
from tests.benchmarks.peer_mail import to_mail, to_mbox
from tests.benchmarks.peer_report import slices_of, to_markdown
from tests.benchmarks.peers import is_wanted, measure_filter, score_version, start_record
from tests.factories import make_comment
from training.data.dataset import Dataset, Example


def make_example(text: str = "The valve was stuck.", **changes) -> Example:
    comment = make_comment(text, post=Post(title="Radiators"), author=Author(name="Mara"))
    values = {"comment": comment, "is_spam": False, "source": "blog", "post_key": "blog/p1"}
    return Example(**(values | changes))


def make_rows() -> Rows:
    both = [make_example(is_spam=is_spam) for is_spam in (True, True, False, False)]
    return Rows(train=both, calibration=both, test=both)


def read_mail(comment: ModelInput) -> email.message.EmailMessage:
    return email.message_from_bytes(to_mail(comment), policy=email.policy.default)


def test_a_mail_filter_reads_title_name_host_and_text():
    mail = read_mail(
        ModelInput(
            text="Grüße!\nFrom me",
            post_title="Über Ventile",
            author_name='Jörg "Joe" Ü',
            author_host="laden.example",
        )
    )

    assert mail["Subject"] == "Über Ventile"
    assert mail["From"].addresses[0].display_name == 'Jörg "Joe" Ü'
    assert mail["From"].addresses[0].domain == "laden.example"
    assert mail.get_content() == "Grüße!\nFrom me\n"


@pytest.mark.parametrize("field", ["post_title", "author_name", "author_host"])
@pytest.mark.parametrize("breaker", ["\nX-Ham: yes\n\n", "\r\nX-Ham: yes", "> <b\x0bX-Ham: yes"])
def test_no_field_breaks_out_of_its_header(field, breaker):
    mail = read_mail(ModelInput(text="Hello", **{field: f"a{breaker}b"}))

    assert "X-Ham" not in mail
    assert set(mail.keys()) == {
        "From",
        "Subject",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
    }
    assert mail.get_content() == "Hello\n"


def test_a_text_cannot_start_another_message_in_a_mailbox():
    mailbox = to_mbox([b"Subject: a\n\nFrom here\n>From there\n", b"Subject: b\n\nb\n"])

    assert mailbox.startswith(b"From ")
    assert mailbox.count(b"\nFrom ") == 1
    assert b"\n>From here\n>>From there\n" in mailbox


def test_llm_spam_is_measured_against_the_ham_of_every_source():
    test = [
        make_example(),
        make_example(source="authored-t1", language="de"),
        make_example(is_spam=True),
        make_example(is_spam=True, kind="llm-spam"),
    ]

    slices = slices_of(test)

    assert slices["llm-spam, all ham"].tolist() == [True, True, False, True]
    assert slices["blog"].tolist() == [True, False, True, True]
    assert slices["authored"].tolist() == [False, True, False, False]
    assert slices["other languages than English, where stated"].tolist() == [
        False,
        True,
        False,
        False,
    ]


def test_what_was_measured_on_the_same_rows_is_kept_and_not_measured_again():
    rows, data = make_rows(), Dataset(examples=(), files=())
    earlier = start_record(data, rows, earlier=None)
    earlier["filters"]["tfidf"] = {"title": "TF-IDF", "slices": {}}
    earlier["filters"]["bogofilter"] = {"title": "bogofilter", "not_measured": "not installed"}

    record = start_record(data, rows, earlier=earlier)

    assert not is_wanted("tfidf", record, None)
    assert is_wanted("bogofilter", record, None)
    assert is_wanted("version next-1", record, ["version"])
    assert not is_wanted("bogofilter", record, ["version"])


def test_figures_of_other_rows_are_refused():
    data = Dataset(examples=(), files=())
    earlier = start_record(data, make_rows(), earlier=None)

    with pytest.raises(ValueError, match="of other rows: give --out another name"):
        start_record(data, make_rows(), earlier=earlier)


def test_a_filter_that_is_not_installed_is_named_with_the_command_that_installs_it():
    def absent(rows: Rows) -> Scored:
        raise NotInstalledError("bogofilter", "apt-get install bogofilter")

    rows = make_rows()
    record = start_record(Dataset(examples=(), files=()), rows, earlier=None)
    record["filters"]["bogofilter"] = {"title": "bogofilter", **measure_filter(absent, rows)}

    assert (
        "| bogofilter | — | not measured: not installed: bogofilter; to install: "
        "`apt-get install bogofilter` |" in to_markdown(record)
    )


def test_each_figure_is_told_with_its_counts():
    def half_right(rows: Rows) -> Scored:
        return Scored(scores=np.array([0.9, 0.2, 0.1, 0.1]), train_seconds=1.5)

    rows = make_rows()
    record = start_record(Dataset(examples=(), files=()), rows, earlier=None)
    record["filters"]["half"] = {"title": "half", **measure_filter(half_right, rows)}

    markdown = to_markdown(record)

    assert "## all: 2 spam, 2 ham" in markdown
    assert "| half | 1.000 (0.158 to 1.000) | 2 (100.0 %; 0)" in markdown


@pytest.mark.parametrize(
    ("learnt", "said"),
    [
        ({"a", "b"}, ["its model"]),
        ({"a"}, ["its model", "its card does not name 1 of the 2 data files"]),
        ({"a", "b", "t"}, ["its model", "it LEARNT 1 of the 2 files that are tested on alone"]),
    ],
)
def test_what_a_version_learnt_is_noted_beside_its_figures(monkeypatch, tmp_path, learnt, said):
    scored = Scored(scores=np.zeros(4), train_seconds=None, note="its model")
    monkeypatch.setattr(peers, "version_model", lambda *_: scored)
    monkeypatch.setattr(peers, "trained_on", lambda *_: frozenset(learnt))

    found = score_version(make_rows(), tmp_path, frozenset({"a", "b"}), frozenset({"t", "u"}))

    notes = found.note.split("; ")
    assert [note.partition(":")[0] for note in notes] == said
