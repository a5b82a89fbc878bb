# Prints OK, or FAILED and what was wrong: sh test_basket.sh
failed=0
expect() {
  wanted=$1
  shift
  got=$(sh basket.sh "$@")
  if [ "$got" != "$wanted" ]; then
    echo "basket.sh $*: wanted $wanted, got $got"
    failed=$((failed + 1))
  fi
}
expect 400 250 100 50
expect 75 75
if [ "$failed" -gt 0 ]; then
  echo "FAILED ($failed of 2)"
  exit 1
fi
echo "OK (2 of 2)"
