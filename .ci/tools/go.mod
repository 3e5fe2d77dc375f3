module curtsy-ci-tools

go 1.26.0
