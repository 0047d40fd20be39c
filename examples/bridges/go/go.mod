module bridge

go 1.19
