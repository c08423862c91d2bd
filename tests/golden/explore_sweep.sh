# The sweep screen: filled in, cursor and knees, a size taken over, time, other ranges, at the sizes that people have.
see() { # SIZE FILE KEYS [OPTIONS]
    size=$1 file=$2 keys=$3
    shift 3
    echo "== $size $file $keys $*"
    $LXPLAN explore "$file" --tile none --objective ${objective:-bytes} --size "$size" --script "<wait>$keys" --dump-screen "$scratch/s" "$@" && cat "$scratch/s"
}
moe=patterns/graphs/moe_mlp.json gq=patterns/graphs/gq_attention.json
# 256, 8 and no colours in UTF-8 at every size, in C at one: what is the same as in 256 colours is not shown again.
for locale in C.UTF-8 C; do
    [ $locale = C ] && sizes=80x24 || sizes='80x24 120x40 200x60'
    for size in $sizes; do
        for theme in dark eight mono; do
            LC_ALL=$locale see $size $gq '0<wait>g]' --theme $theme >"$scratch/$theme"
            tail -n +2 "$scratch/$theme" >"$scratch/screen"
            if [ $theme != dark ] && cmp -s "$scratch/screen" "$scratch/before"; then
                echo "== $size in $locale, $theme: the same"
            else
                echo "== $size in $locale, $theme"
                cat "$scratch/screen"
            fi
            [ $theme = dark ] && cp "$scratch/screen" "$scratch/before"
        done
    done
done
LC_ALL=C see 120x40 $gq '0<wait>thh' --theme dark
see 80x24 $moe '0<wait>g]<Enter><wait>'
see 80x24 $moe '0<wait>:range 64k..128k<Enter><wait>[t'
see 80x24 $gq '0<wait>:range 2m..1m<Enter><wait>'
see 80x24 $gq '0<wait>c<wait>'
see 80x24 $moe '0<wait>c<wait>r<wait>G]'
see 40x12 $gq '0<wait>'
see 20x6 $gq '0<wait>l'
printf 'id,lower,upper,size\na,0,9,400\nb,2,5,300\nc,4,8,200\nd,1,3,500\n' >"$scratch/list.csv"
objective=fit see 80x24 "$scratch/list.csv" '0<wait>' --lx 5000
objective=height see 80x24 "$scratch/list.csv" '0<wait>t'
