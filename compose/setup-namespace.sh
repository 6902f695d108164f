#!/bin/sh
# Creates the namespace if it is missing, sets its retention, and registers surehand's search attributes. Doing it again
# changes nothing. Needs TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, which the command line reads by itself.
set -eu

: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:?}"
retention=${RETENTION:-90d}

# A server that has just started refuses for a while, and one that has just made a namespace does not know it everywhere.
until_done() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || return 1
    sleep 2
  done
}

make_namespace() {
  temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
}

until_done make_namespace
until_done temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"

# Name=Type, as src/contract/names.ts has them.
for attribute in \
  SurehandState=Keyword SurehandHost=Keyword SurehandRepo=Keyword SurehandModel=Keyword \
  SurehandTurns=Int SurehandCostUsd=Double; do
  until_done temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
    --name "${attribute%%=*}" --type "${attribute##*=}"
done
