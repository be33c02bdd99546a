"""The commands that fill histories again and forget a person, as an operator types them."""

from __future__ import annotations

from service.domain.comment import Lane, Sender
from service.domain.decision import Ruling
from service.moderation.admin.sites import add_site
from service.moderation.intake.submit import submit_comments
from service.moderation.privacy.erase import find_person
from service.moderation.review.decide import decide_comment
from service.ports.comments import NewComment
from service.wiring import open_services
from tests.factories import make_comment
from tests.servers import running_valkey

MARA = "mara@example.org"


def test_a_forgotten_person_leaves_nothing_to_be_recognised_by(run, tmp_path, monkeypatch):
    def opened():
        return open_services(data_dir=str(tmp_path))

    with running_valkey() as server:
        monkeypatch.setenv("SLOPSIEVE_VALKEY_URL", server.url)
        with opened() as services:
            site, _ = add_site("Garden", services, actor="test")
            sender = find_person(services, email=MARA).sender
            kept = make_comment(site_id=site.id, sender=sender)
            new = NewComment(comment=kept, lane=Lane.BULK)
            submit_comments([new], services)
            decide_comment(kept.id, Ruling.REJECT, services, decided_by="mod")

        said = run("reputation", "forget", "--email", MARA.upper())
        run("reputation", "rebuild")

        with opened() as services:
            asked = make_comment(sender=sender)
            [history] = services.history.gather([asked], now=services.clock())
            left = services.cases.get(kept.id).comment.sender
    [entry] = [row for row in run("audit", "--json") if row["act"] == "forget sender"]
    assert said == "Forgotten; 1 comments lost the keys of their sender.\n"
    assert (history.email.everywhere.rejected, left) == (0, Sender())
    assert "mara" not in str(entry)
