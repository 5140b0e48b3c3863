#include "tests/support/certificate.h"

#include <cstdlib>
#include <stdexcept>

#include <sys/stat.h>

namespace sojourn::test {

Certificate::Certificate(const std::string& addresses) {
  const Ended made =
      run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
           "-nodes", "-days", "1", "-subj", "/CN=test", "-addext", "subjectAltName=" + addresses,
           "-keyout", key(), "-out", certificate()});
  if (made.exit_code != 0) throw std::runtime_error("openssl made no certificate: " + made.err);
  write_contents(token_file(), token() + "\n");
  chmod(token_file().c_str(), S_IRUSR | S_IWUSR);
  chmod(key().c_str(), S_IRUSR | S_IWUSR);
}

void Certificate::trust() const {
  setenv("SOJOURN_TLS_CA", certificate().c_str(), 1);
  setenv("SOJOURN_TOKEN_FILE", token_file().c_str(), 1);
}

}  // namespace sojourn::test
