# Sourced by the scripts beside it: the project's own virtual environment, in .venv at the top of the checkout.
#
#   ensure_environment EXTRA    makes .venv when it is missing, and installs acepoint with that extra when this
#                               has not been done from the present pyproject.toml. EXTRA is play (none of the
#                               optional dependencies), train, plots or dev; each includes the ones before it.
#
# One process at a time does it, under a lock on .venv.lock; the others wait and find it done. The lock file is
# empty except while .venv is being changed: what an interrupted run left there is made again from nothing.

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
environment="$root/.venv"
python="$environment/bin/python"

say() { printf 'acepoint: %s\n' "$*" >&2; }

die() {
    say "$*"
    exit 1
}

make_environment() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        die "Python 3.11 or later is needed as python3, found: $(python3 -V 2>&1 || true)"
    say "making a Python environment in $environment"
    python3 -m venv --clear "$environment" >&2 ||
        die "python3 -m venv failed; on Debian and Ubuntu it is in the package python3-venv"
}

install() { # EXTRA
    local requirement="$root[$1]" included="play train plots dev"
    [[ $1 != play ]] || requirement=$root
    say "installing acepoint ($1) and what it needs: a few minutes the first time"
    "$python" -m pip install --quiet --disable-pip-version-check --editable "$requirement" >&2 || {
        : >"$root/.venv.lock"
        die "the installation failed, see the message above; the same command tries again"
    }
    for extra in ${included%"$1"*} "$1"; do
        printf '%s\n' "$checksum" >"$environment/.installed-$extra"
    done
}

installed() { # EXTRA
    [[ -x $python && $(cat "$environment/.installed-$1" 2>/dev/null) == "$checksum" ]]
}

ensure_environment() { # EXTRA
    checksum=$({ echo "$root" && cat "$root/pyproject.toml"; } | cksum)
    if installed "$1" && [[ ! -s $root/.venv.lock ]]; then
        return
    fi
    exec 9>>"$root/.venv.lock"
    if command -v flock >/dev/null && ! flock --nonblock 9; then
        say "waiting for another process that is changing $environment"
        flock 9
    fi
    if [[ -s $root/.venv.lock ]] || ! "$python" -m pip --version >/dev/null 2>&1; then
        echo "being changed by process $$" >"$root/.venv.lock"
        make_environment
    fi
    if ! installed "$1"; then
        echo "being changed by process $$" >"$root/.venv.lock"
        install "$1"
    fi
    : >"$root/.venv.lock"
    exec 9>&-
}
