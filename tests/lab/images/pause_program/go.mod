// The smallest program that is a container: it waits to be ended.
module lab.invalid/pause

go 1.24
