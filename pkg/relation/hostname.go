package relation

import "strings"

// servicesOf visits the Services that a host name may refer to, as the cluster's DNS resolves it
// for a pod in the namespace: service[.namespace[.svc[.domain]]], or
// pod.service[.namespace[.svc[.domain]]] for the headless Service of the pod. Two labels match both
// forms. Without svc the name counts as a pod's only if isHost is set or its first label ends in an
// ordinal. The domain may be any. The API server's own Service never counts: everything needs it.
func servicesOf(name, own string, isHost bool, visit func(namespace, service string)) {
	var l [4]string
	n := 0
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if n < len(l) {
			l[n] = label
		}
		n++
	}
	found := func(namespace, service string) {
		if isServiceName(service) && (service != "kubernetes" || namespace != "default") {
			visit(namespace, service)
		}
	}
	ofPod := isHost || ordinal(l[0])
	switch {
	case !isHostName(name) || l[0] == "localhost":
	case n == 1:
		found(own, l[0])
	case n == 2:
		found(l[1], l[0])
		if ofPod {
			found(own, l[1])
		}
	case l[2] == "svc":
		found(l[1], l[0])
	case n == 3:
		if ofPod {
			found(l[2], l[1])
		}
	case l[3] == "svc":
		found(l[2], l[1])
	}
}

// ordinal reports whether a label ends as the names of a StatefulSet's pods do.
func ordinal(label string) bool {
	i := strings.LastIndexByte(label, '-')
	return i > 0 && number(label[i+1:])
}

// qualified reports whether a host name has the svc label of a cluster's DNS.
func qualified(name string) bool {
	parts := strings.SplitN(name, ".", 5)
	return (len(parts) > 2 && parts[2] == "svc") || (len(parts) > 3 && parts[3] == "svc")
}

// isHostName reports whether name consists of DNS-1123 labels and is no IP address. A final dot is
// allowed.
func isHostName(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > 253 {
		return false
	}
	letters := false
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return false
		}
		letters = letters || isServiceName(label)
	}
	return letters
}

// isLabel reports whether s is a DNS-1123 label.
func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && !isDigit(c) && c != '-' {
			return false
		}
	}
	return true
}

// isServiceName reports whether a label may name a Service: without a letter it is a number, a
// version or part of an IP address.
func isServiceName(label string) bool {
	for i := range len(label) {
		if isLetter(label[i]) {
			return true
		}
	}
	return false
}
