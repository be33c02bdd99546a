#!/bin/sh
# Gives the folder to Valkey's own user, then becomes that user.
set -e
if [ "$1" = valkey-server ] && [ "$(id -u)" = 0 ]; then
    find . ! -user valkey -exec chown valkey '{}' +
    exec setpriv --reuid=valkey --regid=valkey --clear-groups "$0" "$@"
fi
exec "$@"
