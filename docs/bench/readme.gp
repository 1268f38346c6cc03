# The picture in README.md: gnuplot docs/bench/readme.gp >docs/bench/readme.svg
# The numbers are those of docs/benchmarks.md: 200,000 entries, unix socket,
# chunks of 1,000, median of time / floor; the library, and hiredis (a loop of
# MGETs or MSETs; a pipeline cut into chunks).

$times << END
"MGET\n100 bytes" 1.08 1.67
"MGET\n1 KB" 1.13 1.78
"MSET\n100 bytes" 0.99 1.33
"MSET\n1 KB" 1.02 1.32
"pipeline of GETs\n100 bytes" 1.03 1.62
END

set terminal svg size 720,320 font "sans-serif,13" background "white"
set style data histograms
set style histogram clustered gap 1
set style fill solid noborder
set boxwidth 0.9
set yrange [0:2]
set xrange [-0.6:4.6]
set bmargin 3.2
set ytics 0.5 nomirror textcolor "black"
set xtics nomirror scale 0 textcolor "black"
set grid ytics linecolor "#dddddd"
set border 3 linecolor "#666666"
set key outside top left horizontal samplen 1.5
set ylabel "time / floor"
set arrow from graph 0,first 1 to graph 1,first 1 nohead \
	linecolor "#333333" dashtype 2 front
plot $times using 2:xtic(1) title "libredisbatch" linecolor "#1f6f8b", \
	"" using 3 title "hiredis" linecolor "#d9a441", \
	"" using ($0 - 0.17):2:(sprintf("%.2f", $2)) with labels \
		offset 0,0.6 notitle, \
	"" using ($0 + 0.17):3:(sprintf("%.2f", $3)) with labels \
		offset 0,0.6 notitle
