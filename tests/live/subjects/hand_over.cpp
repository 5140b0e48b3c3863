// A program with known wakeups: "feeder" sends a packet every two milliseconds to the socket of
// "reader", which hands it over by a condition variable to "worker", which does the same to
// "sender", which sends it out; "tick" has a timer of its own. Usage: NAME PACKETS. Writes "ready"
// to descriptor 3, and waits for SIGUSR1. At the end it prints, a name and a number a line, the ids
// of its threads, and the durations by its own clock.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr long kFeedNs = 2'000'000;
constexpr long kTickNs = 5'000'000;

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::exit(1);
}

std::mutex output;
void say(const std::string& name, std::uint64_t number) {
  const std::scoped_lock lock(output);
  std::printf("%s %llu\n", name.c_str(), static_cast<unsigned long long>(number));
}

void begin(const char* name) {
  pthread_setname_np(pthread_self(), name);
  say(name, static_cast<std::uint64_t>(syscall(SYS_gettid)));
}

// Prints the minimum, the median, the maximum and the sum of the times.
void say_times(const std::string& name, std::vector<std::uint64_t> times) {
  require(!times.empty(), name.c_str());
  std::sort(times.begin(), times.end());
  std::uint64_t sum = 0;
  for (const std::uint64_t time : times) sum += time;
  say(name + ".min", times.front());
  say(name + ".max", times.back());
  say(name + ".sum", sum);
}

struct Packet {
  bool is_last = false;
  std::uint64_t received_ns = 0;
  std::uint64_t handed_ns = 0;
};

class Queue {
 public:
  void put(Packet packet) {
    {
      const std::scoped_lock lock(mutex_);
      packet.handed_ns = now_ns();
      packets_.push(packet);
    }
    there_is_one_.notify_one();
  }

  Packet take() {
    std::unique_lock lock(mutex_);
    there_is_one_.wait(lock, [this] { return !packets_.empty(); });
    const Packet packet = packets_.front();
    packets_.pop();
    return packet;
  }

 private:
  std::mutex mutex_;
  std::condition_variable there_is_one_;
  std::queue<Packet> packets_;
};

int udp_socket(sockaddr_in& address) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  require(fd >= 0, "socket");
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  require(bind(fd, reinterpret_cast<sockaddr*>(&address), bytes) == 0, "bind");
  require(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) == 0, "getsockname");
  return fd;
}

void send_to(int fd, const sockaddr_in& to, char what) {
  require(sendto(fd, &what, 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 1, "send");
}

void sleep_for(long ns) {
  const timespec time{.tv_sec = 0, .tv_nsec = ns};
  nanosleep(&time, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const int packets = argc > 1 ? std::atoi(argv[1]) : 100;
  sigset_t go;
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &go, nullptr);

  sockaddr_in in{};
  sockaddr_in out{};
  const int reads = udp_socket(in);
  const int sink = udp_socket(out);  // not read: its buffer is large enough
  Queue to_worker;
  Queue to_sender;
  std::atomic<bool> ends = false;

  std::thread tick([&] {
    begin("tick");
    timespec next{};
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!ends) {
      next.tv_nsec += kTickNs;
      if (next.tv_nsec >= 1'000'000'000) {
        next.tv_nsec -= 1'000'000'000;
        ++next.tv_sec;
      }
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    }
  });
  std::thread reader([&] {
    begin("reader");
    for (bool is_last = false; !is_last;) {
      char what = 0;
      require(recv(reads, &what, 1, 0) == 1, "recv");
      const std::uint64_t received_ns = now_ns();
      is_last = what == 'l';
      to_worker.put({.is_last = is_last, .received_ns = received_ns, .handed_ns = 0});
    }
  });
  std::thread worker([&] {
    begin("worker");
    std::vector<std::uint64_t> hand_overs;
    for (bool is_last = false; !is_last;) {
      const Packet packet = to_worker.take();
      hand_overs.push_back(now_ns() - packet.handed_ns);
      is_last = packet.is_last;
      to_sender.put(packet);
    }
    say_times("hand_over", hand_overs);
  });
  std::thread sender([&] {
    begin("sender");
    const int sends = socket(AF_INET, SOCK_DGRAM, 0);
    require(sends >= 0, "socket");
    std::vector<std::uint64_t> ways;
    for (bool is_last = false; !is_last;) {
      const Packet packet = to_sender.take();
      is_last = packet.is_last;
      ways.push_back(now_ns() - packet.received_ns);
      send_to(sends, out, 'x');
    }
    say_times("way", ways);
    close(sends);
  });

  std::thread feeder([&] {
    begin("feeder");
    const int sends = socket(AF_INET, SOCK_DGRAM, 0);
    require(sends >= 0, "socket");
    require(write(3, "ready\n", 6) == 6, "say ready");
    int signal = 0;
    sigwait(&go, &signal);
    for (int packet = 1; packet <= packets; ++packet) {
      send_to(sends, in, packet == packets ? 'l' : 'x');
      sleep_for(kFeedNs);
    }
    close(sends);
  });
  feeder.join();
  reader.join();
  worker.join();
  sender.join();
  ends = true;
  tick.join();
  close(reads);
  close(sink);
  return 0;
}
