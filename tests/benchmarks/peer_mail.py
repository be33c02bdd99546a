"""Teaches comments, as small mail messages, to spam filters that were made for mail."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from email.header import Header
from pathlib import Path

import numpy as np

from models.inputs import ModelInput
from service.scoring.metrics import Scores
from tests.benchmarks.peer_filters import NotInstalledError, Rows, Scored

_INSTALL = "apt-get install -y --no-install-recommends bogofilter spamassassin"

# A host that no site can have (RFC 2606) stands where the comment gives none.
_NO_HOST = "absent.invalid"
_ODD_HOST = "unreadable.invalid"
_HOST = re.compile(r"[a-z0-9.-]{1,253}")
_FROM_LINE = re.compile(rb"^(>*From )", re.MULTILINE)
_MBOX_START = b"From comment@absent.invalid Thu Jan  1 00:00:00 1970\n"

# Bogofilter cuts a formatted number to 20 characters; this is the longest format that fits whole.
_SPAMICITY_FORMAT = "%0.12e"

_SPAMASSASSIN_RULES = Path("/usr/share/spamassassin")
# What the Bayes plugin itself reads: which names are addresses of sites, and its stop words.
_RULES_OF_BAYES = ("20_aux_tlds.cf", "60_bayes_stopwords.cf")
# One rule that always fires makes the plugin score; nothing else is loaded. Words are kept for
# ever because nothing here is ever old, and small data may be tried out.
_SPAMASSASSIN_CONFIG = """\
loadplugin Mail::SpamAssassin::Plugin::Check
loadplugin Mail::SpamAssassin::Plugin::Bayes
use_bayes 1
bayes_auto_learn 0
bayes_auto_expire 0
bayes_min_spam_num 1
bayes_min_ham_num 1
bayes_path {folder}/bayes
lock_method flock
body ANY_BAYES eval:check_bayes('0.00', 'undef')
score ANY_BAYES 1
"""
# Reads "spam|ham|score NUMBER LENGTH", a line feed and that many bytes, over and over. One process
# for all messages; `sa-learn` could learn in bulk, but only this tells the score in full.
_SPAMASSASSIN_PROGRAM = r"""
use strict; use warnings; use Mail::SpamAssassin;
my ($folder) = @ARGV;
binmode STDIN;
my $filter = Mail::SpamAssassin->new({
    rules_filename => "$folder/rules", site_rules_filename => "$folder/none",
    userprefs_filename => "$folder/none", userstate_dir => $folder,
    local_tests_only => 1, dont_copy_prefs => 1 });
$filter->init(1);
$filter->init_learner({ caller_will_untie => 1, wait_for_lock => 1 });
while (defined(my $head = <STDIN>)) {
    my ($what, $number, $length) = split ' ', $head;
    read(STDIN, my $bytes, $length) == $length or die "message $number is cut short\n";
    my $mail = $filter->parse($bytes, 1);
    if ($what eq "score") {
        my $status = $filter->check($mail);
        my $p_spam = $status->{bayes_score};
        print defined $p_spam ? sprintf("%.17g", $p_spam) : "none", "\n";
        $status->finish;
    } else {
        $filter->learn($mail, "row-$number", $what eq "spam", 0)->did_learn
            or die "message $number was not learnt\n";
    }
    $mail->finish;
}
$filter->finish_learner;
"""
# What SpamAssassin itself shows where no word of a message is known.
_SPAMASSASSIN_UNKNOWN = 0.5


def to_mail(comment: ModelInput) -> bytes:
    """Return a comment as a mail message (RFC 5322, UTF-8) that no field can break out of.

    Subject is the post's title, From the author's name at the host of the author's site.
    """
    name = _header(comment.author_name)
    head = (
        f"From: {name} <comment@{_host(comment.author_host)}>\n"
        f"Subject: {_header(comment.post_title)}\n"
        "MIME-Version: 1.0\n"
        'Content-Type: text/plain; charset="utf-8"\n'
        "Content-Transfer-Encoding: 8bit\n\n"
    )
    body = comment.text.replace("\r\n", "\n").replace("\r", "\n")
    return head.encode("ascii") + body.encode() + b"\n"


def to_mbox(messages: Iterable[bytes]) -> bytes:
    """Return one mailbox; lines that would look like the start of a message are quoted."""
    return b"".join(_MBOX_START + _FROM_LINE.sub(rb">\1", m) + b"\n" for m in messages)


def _header(text: str) -> str:
    words = " ".join(text.split())
    if words.isascii() and words.isprintable() and "=?" not in words:
        return re.sub(r'[\\"<>]', " ", words)
    return Header(words, "utf-8").encode()


def _host(host: str) -> str:
    try:
        ascii_host = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return _ODD_HOST
    if not ascii_host:
        return _NO_HOST
    return ascii_host if _HOST.fullmatch(ascii_host) else _ODD_HOST


def bogofilter(rows: Rows) -> Scored:
    """Return the spamicity of each test comment, with bogofilter's own settings."""
    if not shutil.which("bogofilter"):
        raise NotInstalledError("bogofilter", _INSTALL)
    with tempfile.TemporaryDirectory(prefix="peer-bogofilter-") as folder:
        command = ["bogofilter", "-C", "-d", folder, "-M"]
        started = time.perf_counter()
        for is_spam, flag in ((True, "-s"), (False, "-n")):
            mails = [to_mail(e.input) for e in rows.train if e.is_spam is is_spam]
            subprocess.run([*command, flag], input=to_mbox(mails), check=True, capture_output=True)
        train_seconds = time.perf_counter() - started
        answers = subprocess.run(
            [*command, "-t", f"--terse-format={_SPAMICITY_FORMAT}"],
            input=to_mbox(to_mail(e.input) for e in rows.test),
            # 0 to 2 say which verdict came last, 3 is an error.
            check=False,
            capture_output=True,
        )
    scores = _numbers(answers.stdout.split(), len(rows.test), "bogofilter")
    return Scored(scores=scores, train_seconds=train_seconds)


def spamassassin_bayes(rows: Rows) -> Scored:
    """Return the Bayes probability of each test comment, without any other rule."""
    missing = [name for name in _RULES_OF_BAYES if not (_SPAMASSASSIN_RULES / name).exists()]
    if missing or not shutil.which("spamassassin") or not shutil.which("perl"):
        raise NotInstalledError("SpamAssassin", _INSTALL)
    with tempfile.TemporaryDirectory(prefix="peer-spamassassin-") as name:
        folder = Path(name)
        rules = folder / "rules"
        rules.mkdir()
        (rules / "bayes.cf").write_text(_SPAMASSASSIN_CONFIG.format(folder=folder))
        for rule in _RULES_OF_BAYES:
            (rules / rule).symlink_to(_SPAMASSASSIN_RULES / rule)
        started = time.perf_counter()
        _run_spamassassin(
            folder, [("spam" if e.is_spam else "ham", to_mail(e.input)) for e in rows.train]
        )
        train_seconds = time.perf_counter() - started
        answers = _run_spamassassin(folder, [("score", to_mail(e.input)) for e in rows.test])
    known = [str(_SPAMASSASSIN_UNKNOWN).encode() if a == b"none" else a for a in answers]
    return Scored(
        scores=_numbers(known, len(rows.test), "SpamAssassin"), train_seconds=train_seconds
    )


def _run_spamassassin(folder: Path, messages: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Return the lines that the program answers; what it complains of may quote a comment."""
    asked = b"".join(
        f"{what} {number} {len(mail)}\n".encode() + mail
        for number, (what, mail) in enumerate(messages)
    )
    command = ["perl", "-e", _SPAMASSASSIN_PROGRAM, str(folder)]
    return subprocess.run(command, input=asked, check=True, capture_output=True).stdout.split()


def _numbers(answers: Sequence[bytes], n: int, program: str) -> Scores:
    """Return the answers as numbers. Raise `RuntimeError` unless each comment got one."""
    if len(answers) != n:
        msg = f"{program} answered {len(answers)} of {n} messages"
        raise RuntimeError(msg)
    return np.array([float(answer) for answer in answers])
