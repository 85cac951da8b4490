package manual

import (
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"time"
)

// isFormat checks the formats that a server checks and that occur in practice.
func isFormat(format, s string) bool {
	var err error
	switch format {
	case "date-time":
		_, err = time.Parse(time.RFC3339, s)
	case "date":
		_, err = time.Parse(time.DateOnly, s)
	case "duration":
		_, err = time.ParseDuration(s)
	case "email":
		_, err = mail.ParseAddress(s)
	case "uri":
		_, err = url.ParseRequestURI(s)
	case "ipv4":
		a, wrong := netip.ParseAddr(s)
		return wrong == nil && a.Is4()
	case "ipv6":
		a, wrong := netip.ParseAddr(s)
		return wrong == nil && a.Is6()
	case "cidr":
		_, _, err = net.ParseCIDR(s)
	case "uuid":
		return uuid.MatchString(s)
	}
	return err == nil
}

var uuid = regexp.MustCompile(`^(?i)[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$`)
