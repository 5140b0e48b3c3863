#include "userspace/tls/session.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::tls {

namespace {

// An OpenSSL BIO over a socket, which raises no SIGPIPE.
int fd_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool is_passing(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

int write_socket(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = send(fd_of(bio), bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL);
  if (sent < 0 && is_passing(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_socket(BIO* bio, char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(fd_of(bio), bytes, static_cast<std::size_t>(count), 0);
  if (got < 0 && is_passing(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control_socket(BIO* /*bio*/, int what, long /*number*/, void* /*pointer*/) {
  return what == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_write(made, write_socket);
    BIO_meth_set_read(made, read_socket);
    BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  return method;
}

// Returns the last error of the thread's queue, and empties the queue.
std::string reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* const words = code == 0 ? nullptr : ERR_reason_error_string(code);
  std::string text = words == nullptr ? "unknown reason" : words;
  if (code != 0 && ERR_SYSTEM_ERROR(code)) text = std::strerror(ERR_GET_REASON(code));
  ERR_clear_error();
  return text;
}

// Refuses keys with a password: there is no user to ask.
int no_password(char* /*into*/, int /*size*/, int /*writes*/, void* /*data*/) {
  return -1;
}

Result<void> check_is_private(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return fail_errno("open {}", path);
  if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0)
    return fail("{}: all users can read or write this key: chmod 600 {}", path, path);
  return {};
}

bool is_address(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

ssl_ctx_st* new_context(const SSL_METHOD* method) {
  ERR_clear_error();
  ssl_ctx_st* const context = SSL_CTX_new(method);
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);  // no connection is resumed
  SSL_CTX_set_default_passwd_cb(context, no_password);
  return context;
}

}  // namespace

void Session::Free::operator()(ssl_st* session) const {
  SSL_free(session);
}

void Context::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

Result<Context> Context::for_server(const std::string& certificate, const std::string& key) {
  SJ_CHECK(check_is_private(key));
  Context made(new_context(TLS_server_method()));
  if (!made.context_) return fail("prepare TLS: {}", reason());
  if (SSL_CTX_use_certificate_chain_file(made.context_.get(), certificate.c_str()) != 1)
    return fail("{}: no certificate can be read from it: {}", certificate, reason());
  if (SSL_CTX_use_PrivateKey_file(made.context_.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
    return fail("{}: no key can be read from it: {}", key, reason());
  if (SSL_CTX_check_private_key(made.context_.get()) != 1)
    return fail("{} is not the key of {}: {}", key, certificate, reason());
  return made;
}

Result<Context> Context::for_client(const std::string& authorities) {
  Context made(new_context(TLS_client_method()));
  if (!made.context_) return fail("prepare TLS: {}", reason());
  SSL_CTX_set_verify(made.context_.get(), SSL_VERIFY_PEER, nullptr);
  const bool is_ready =
      authorities.empty() ? SSL_CTX_set_default_verify_paths(made.context_.get()) == 1
                          : SSL_CTX_load_verify_file(made.context_.get(), authorities.c_str()) == 1;
  if (!is_ready)
    return fail("{}: no certificates can be read from it: {}",
                authorities.empty() ? "the system's authorities" : authorities, reason());
  return made;
}

Result<ssl_st*> Context::session_over(int fd) const {
  ERR_clear_error();
  ssl_st* const session = SSL_new(context_.get());
  BIO* const bio = session == nullptr ? nullptr : BIO_new(socket_method());
  if (bio == nullptr) {
    SSL_free(session);
    return fail("prepare TLS: {}", reason());
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);
  return session;
}

Result<Session> Context::accept(int fd) const {
  SJ_TRY(raw, session_over(fd));
  SSL_set_accept_state(raw);
  return Session(raw);
}

Result<Session> Context::connect(int fd, const std::string& host) const {
  SJ_TRY(raw, session_over(fd));
  Session session(raw);
  SSL_set_connect_state(raw);
  const bool is_set = is_address(host)
                          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(raw), host.c_str()) == 1
                          : SSL_set1_host(raw, host.c_str()) == 1 &&
                                SSL_set_tlsext_host_name(raw, host.c_str()) == 1;
  if (!is_set) return fail("{}: no certificate can be for that name: {}", host, reason());
  return session;
}

Step Session::handshake() {
  ERR_clear_error();
  return step_after(SSL_do_handshake(session_.get()));
}

Step Session::read(std::span<std::uint8_t> into, std::size_t& bytes) {
  ERR_clear_error();
  bytes = 0;
  return step_after(SSL_read_ex(session_.get(), into.data(), into.size(), &bytes));
}

Step Session::write(std::span<const std::uint8_t> from, std::size_t& bytes) {
  ERR_clear_error();
  bytes = 0;
  return step_after(SSL_write_ex(session_.get(), from.data(), from.size(), &bytes));
}

void Session::say_goodbye() {
  ERR_clear_error();
  if (SSL_is_init_finished(session_.get()) == 1) SSL_shutdown(session_.get());
  ERR_clear_error();
}

Step Session::step_after(int result) {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_NONE:
      return Step::kDone;
    case SSL_ERROR_WANT_READ:
      return Step::kRead;
    case SSL_ERROR_WANT_WRITE:
      return Step::kWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kClosed;
    default:
      failure_ = words_of_failure();
      return Step::kClosed;
  }
}

std::string Session::words_of_failure() const {
  const long verdict = SSL_get_verify_result(session_.get());
  if (verdict != X509_V_OK) {
    ERR_clear_error();
    return std::string("its certificate is not trusted: ") + X509_verify_cert_error_string(verdict);
  }
  const unsigned long code = ERR_peek_last_error();
  if (code == 0 || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return "the connection broke";
  }
  if (ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) {
    ERR_clear_error();
    return "no TLS is spoken there";
  }
  return reason();
}

bool is_same_secret(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace sojourn::tls
