module foreign

go 1.21

require github.com/twmb/franz-go v1.22.2
