package catalog

var entries []Entry
