"""The command that prints a unit by which systemd starts Slopsieve and keeps it running."""

from __future__ import annotations

import sys
from pathlib import Path

import click

# Folders that `ProtectHome` hides from the unit: what lies there could not be started.
_HOMES = ("/home", "/root", "/run/user")

# Everything embedded. What is not there, and why:
# - MemoryDenyWriteExecute: OpenVINO compiles the network into memory that it then runs.
# - PrivateNetwork, IPAddressDeny: sites are called back wherever they are.
# - ProcSubset=pid: OpenVINO reads /proc/cpuinfo to choose its instructions.
# - DynamicUser: then nobody but root could run `slopsieve sites add` on the data.
_UNIT = """\
# Slopsieve with everything embedded: SQLite, Valkey, API, worker, callbacks and scheduler.
#
#   useradd --system --home-dir /var/lib/slopsieve --shell /usr/sbin/nologin slopsieve
#   {program} systemd > /etc/systemd/system/slopsieve.service
#   systemctl daemon-reload && systemctl enable --now slopsieve
#
# Settings go into /etc/slopsieve.env, one NAME=value a line; the log is `journalctl -u slopsieve`.
# Other commands need its user and its data folder, here the first key and password:
#
#   sudo -u slopsieve {program} first-run --data-dir /var/lib/slopsieve

[Unit]
Description=Slopsieve, comment moderation
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User=slopsieve
StateDirectory=slopsieve
StateDirectoryMode=0700
WorkingDirectory=%S/slopsieve
Environment=SLOPSIEVE_DATA_DIR=%S/slopsieve
EnvironmentFile=-/etc/slopsieve.env
ExecStart={program} up
# One part after another, refusing nobody meanwhile.
ExecReload={program} restart
Restart=on-failure
RestartSec=5
# Settings, data folder, database, package: they do not heal by trying again.
RestartPreventExitStatus=2 3 4 7
# The supervisor stops its parts in order, the slowest within 30 s.
KillMode=mixed
TimeoutStopSec=60

# 0.8 GB after the start; under load the bounds of the containers of these parts add up to 3 GB.
# SLOPSIEVE_RETRAIN_EVERY_DAYS needs SLOPSIEVE_RETRAIN_MEMORY_MB more.
MemoryMax=3G
TasksMax=512

CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
UMask=0077

[Install]
WantedBy=multi-user.target
"""


@click.command("systemd")
def systemd_command() -> None:
    """Print a unit of systemd for a server, with what to do with it at its head.

    It runs this very program as a user of its own, who may write to /var/lib/slopsieve and nowhere
    else. Write another unit by hand where PostgreSQL or Valkey run elsewhere.
    """
    program = Path(sys.executable).parent / "slopsieve"
    home = next((one for one in _HOMES if program.is_relative_to(one)), None)
    if home is not None:
        msg = (
            f"the unit's user cannot read {home}, where this program lies ({program}): install it "
            "for everybody, e.g. python3 -m venv /opt/slopsieve, the wheel by its pip, and run "
            "/opt/slopsieve/bin/slopsieve systemd"
        )
        raise click.ClickException(msg)
    click.echo(_UNIT.format(program=program), nl=False)
