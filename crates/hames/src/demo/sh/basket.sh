# Prints what a basket of goods costs, in cents: sh basket.sh PRICE...
total=0
shift
for price in "$@"; do
  total=$((total + price))
done
echo "$total"
