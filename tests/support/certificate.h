// A certificate for 127.0.0.1 and other addresses that signs itself, with its key and a token, in a
// directory that goes away with it. By Debian's openssl.
#pragma once

#include <string>

#include "tests/support/child.h"

namespace sojourn::test {

class Certificate {
 public:
  // `addresses`: "IP:10.1.0.1,DNS:gnb"
  explicit Certificate(const std::string& addresses = "IP:127.0.0.1");

  std::string certificate() const { return directory_.path("cert.pem"); }
  std::string key() const { return directory_.path("key.pem"); }
  std::string token_file() const { return directory_.path("token"); }
  std::string token() const { return "0123456789abcdef0123"; }
  // Sets the variables that a reader needs in the environment of this process and its children.
  void trust() const;

 private:
  TemporaryDirectory directory_;
};

}  // namespace sojourn::test
