package debian

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseConfig(t *testing.T) {
	const dump = `APT "";
APT::Architecture "amd64";
Acquire::http::Proxy "http://p.invalid:3128";
Acquire::Languages:: "none";
Acquire::IndexTargets::deb::MetaKey "$(COMPONENT)/binary-$(ARCHITECTURE)/Packages";
not a line
`
	want := Config{
		"apt":                                 "",
		"apt::architecture":                   "amd64",
		"acquire::http::proxy":                "http://p.invalid:3128",
		"acquire::languages::":                "none",
		"acquire::indextargets::deb::metakey": "$(COMPONENT)/binary-$(ARCHITECTURE)/Packages",
	}
	if diff := cmp.Diff(want, parseConfig([]byte(dump))); diff != "" {
		t.Errorf("parseConfig: -want +got:\n%s", diff)
	}
}

func TestSourcePaths(t *testing.T) {
	for _, tt := range []struct {
		conf        Config
		list, parts string
	}{
		{Config{}, "/etc/apt/sources.list", "/etc/apt/sources.list.d"},
		{Config{"dir": "/r", "dir::etc": "e"}, "/r/e/sources.list", "/r/e/sources.list.d"},
		{Config{"dir": "/r", "dir::etc::sourcelist": "/abs/list", "dir::etc::sourceparts": "/dev/null"}, "/abs/list", "/dev/null"},
	} {
		if list, parts := tt.conf.sourcePaths(); list != tt.list || parts != tt.parts {
			t.Errorf("%v: sourcePaths() = %s, %s, want %s, %s", tt.conf, list, parts, tt.list, tt.parts)
		}
	}
}

func TestProxy(t *testing.T) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"} {
		t.Setenv(name, "")
	}
	one := Config{"acquire::http::proxy": "http://p.invalid:3128", "acquire::http::proxy::near.invalid": "DIRECT"}
	both := Config{"acquire::http::proxy": "http://p.invalid", "acquire::https::proxy": "http://s.invalid"}
	for _, tt := range []struct {
		conf      Config
		url, want string
	}{
		{Config{}, "http://a.invalid/x", ""},
		{one, "http://a.invalid/x", "http://p.invalid:3128"},
		{one, "http://near.invalid:80/x", ""},
		{one, "https://a.invalid/x", "http://p.invalid:3128"},
		{both, "https://a.invalid/x", "http://s.invalid"},
		{both, "http://a.invalid/x", "http://p.invalid"},
	} {
		req, err := http.NewRequest(http.MethodGet, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		u, err := tt.conf.proxy(req)
		if u != nil {
			got = u.String()
		}
		if got != tt.want || err != nil {
			t.Errorf("%v: proxy(%s) = %q, %v, want %q", tt.conf, tt.url, got, err, tt.want)
		}
	}
}
