package field

import "testing"

func TestHostsOnly(t *testing.T) {
	for in, want := range map[string]string{
		`Post "https://hooks.example.com/T0/B0/secret?token=a": EOF`:        `Post "https://hooks.example.com": EOF`,
		"get https://ann:pw@charts.example.com:8443/x.tgz: 401":             "get https://charts.example.com:8443 401",
		"see http://user:pw@host":                                           "see http://host",
		"see http://user:pw@host:80 now":                                    "see http://host:80 now",
		"https://host?sig=1, oci://reg.example.com/a/b@sha256:00 and done.": "https://host oci://reg.example.com and done.",
		"https://[::1]:8080/path":                                           "https://[::1]:8080",
		"https://a.example.com: no route":                                   "https://a.example.com: no route",
		"Deployment.apps/shop/web and a/b@c stay":                           "Deployment.apps/shop/web and a/b@c stay",
		"mysql://root:s3cret@db/x":                                          "mysql://db",
	} {
		if got := HostsOnly(in); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestURLScheme(t *testing.T) {
	for text, want := range map[string]string{"HTTP://host": "http", "https://host/a://b": "https", "OCI://host/a": "oci", "file.yaml": "", "C:/a": "", "": ""} {
		if got := URLScheme(text); got != want || IsWebURL(text) != (want == "http" || want == "https") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
