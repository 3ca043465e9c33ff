// apt's own configuration: where its sources are and which proxy it uses. It is
// asked for with apt-config and not read from files, because it is spread over
// a dozen of them; its keys are case-insensitive.

package debian

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
)

// Config is what `apt-config dump` prints, keys in lower case.
type Config map[string]string

// readConfig asks apt for its configuration.
func readConfig() (Config, error) {
	out, err := exec.Command("apt-config", "dump").Output()
	if err != nil {
		return nil, fmt.Errorf("apt-config dump: %w", err)
	}
	return parseConfig(out), nil
}

// parseConfig reads lines of the form `Acquire::http::Proxy "value";`.
func parseConfig(dump []byte) Config {
	conf := Config{}
	lines := bufio.NewScanner(bytes.NewReader(dump))
	for lines.Scan() {
		key, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ` "`)
		value, closed := strings.CutSuffix(value, `";`)
		if ok && closed {
			conf[strings.ToLower(key)] = value
		}
	}
	return conf
}

// get returns the value of a key, or def when apt has none.
func (c Config) get(key, def string) string {
	if v := c[strings.ToLower(key)]; v != "" {
		return v
	}
	return def
}

// parseBool reads a value the way apt does.
func parseBool(s string, def bool) bool {
	switch strings.ToLower(s) {
	case "1", "yes", "true", "with", "on", "enable":
		return true
	case "0", "no", "false", "without", "off", "disable":
		return false
	}
	return def
}

// path joins the configured pieces of a file name; an absolute piece starts afresh.
func (c Config) path(pieces ...string) string {
	p := ""
	for _, piece := range pieces {
		if filepath.IsAbs(piece) {
			p = piece
		} else {
			p = filepath.Join(p, piece)
		}
	}
	return p
}

// sourcePaths names the one-line sources file and the folder of further sources.
func (c Config) sourcePaths() (list, parts string) {
	root, etc := c.get("Dir", "/"), c.get("Dir::Etc", "etc/apt")
	list = c.path(root, etc, c.get("Dir::Etc::sourcelist", "sources.list"))
	parts = c.path(root, etc, c.get("Dir::Etc::sourceparts", "sources.list.d"))
	return list, parts
}

// proxyFor returns apt's proxy setting for a URL: a proxy's address, "DIRECT",
// or "" when apt leaves it to the environment.
func (c Config) proxyFor(u *url.URL) string {
	for _, scheme := range []string{u.Scheme, "http"} {
		key := "Acquire::" + scheme + "::Proxy"
		if p := c.get(key+"::"+u.Hostname(), c.get(key, "")); p != "" {
			return p
		}
	}
	return ""
}

// proxy is an http.Transport's Proxy.
func (c Config) proxy(req *http.Request) (*url.URL, error) {
	switch p := c.proxyFor(req.URL); p {
	case "":
		return http.ProxyFromEnvironment(req)
	case "DIRECT":
		return nil, nil
	default:
		return url.Parse(p)
	}
}
