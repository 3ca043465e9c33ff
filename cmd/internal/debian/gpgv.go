// The signature of a release file. gpgv's exit status is not the answer: it is
// a failure whenever one of several signatures comes from a key that an older
// keyring lacks, which is normal for a suite newer than the machine. So, as apt
// does, its status lines are read: one good signature is needed, a bad one refuses.

package debian

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// verify checks a clear-signed text against a keyring and returns what the
// signature covers, and only that: text around it is an attacker's.
func verify(keyring string, signed []byte) ([]byte, error) {
	status, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("gpgv: %w", err)
	}
	defer status.Close()
	var lines, text, talk bytes.Buffer
	cmd := exec.Command("gpgv", "--status-fd", "3", "--keyring", keyring, "--output", "-", "-")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(signed), &text, &talk
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, fmt.Errorf("gpgv: %w", err)
	}
	_, readErr := lines.ReadFrom(status)
	runErr := cmd.Wait()
	if readErr != nil {
		return nil, fmt.Errorf("gpgv: status: %w", readErr)
	}
	if exit := (*exec.ExitError)(nil); runErr != nil && !errors.As(runErr, &exit) {
		return nil, fmt.Errorf("gpgv: %w", runErr)
	}
	if err := judge(lines.String()); err != nil {
		return nil, fmt.Errorf("signature: %w (keyring %s)", err, keyring)
	}
	return text.Bytes(), nil
}

// judge reads gpgv's status lines. An expired or revoked key says so instead of
// GOODSIG, although VALIDSIG follows all the same.
func judge(status string) error {
	good := false
	var unknown []string
	for _, line := range strings.Split(status, "\n") {
		w := strings.Fields(line)
		if len(w) < 2 || w[0] != "[GNUPG:]" {
			continue
		}
		switch w[1] {
		case "GOODSIG":
			good = true
		case "BADSIG":
			return errors.New("does not match the text")
		case "EXPKEYSIG", "REVKEYSIG", "EXPSIG", "NO_PUBKEY":
			unknown = append(unknown, strings.Join(w[1:min(len(w), 3)], " "))
		}
	}
	switch {
	case good:
		return nil
	case len(unknown) > 0:
		return fmt.Errorf("none by a usable key: %s; a newer debian-archive-keyring may have it", strings.Join(unknown, ", "))
	}
	return errors.New("there is none")
}
