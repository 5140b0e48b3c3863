// Queues of C++ classes, watched from outside in one line:
//
//   sojourn::Counted<std::deque<Packet>> packets{{.name = "rlc.tx", .capacity = 1024}};
//   sojourn::Counted<boost::lockfree::queue<Packet>> packets{{"rlc.tx"}, 128};
//   class MyQueue : private sojourn::QueueCounter { ... count_in(); ... count_out(); };
//
// Counted<Queue> is a Queue whose ways in and out also count, when something went in or out; all
// else is the Queue's own. It adapts by what it finds: std::deque, list, queue, stack, vector and
// priority_queue; boost::lockfree; moodycamel (enqueue, try_dequeue); TBB (push, try_pop); and
// others whose members are called the same and say by their result whether they did it. Only these
// members count: not what is done through a plain Queue&. Needs none of these libraries.
//
// A Queue that has front() or top() is one that its user guards by a lock, or one with a single
// producer and a single consumer, and counts without a locked instruction; say
// Counted<Queue, sojourn::Counting::kShared> where that is wrong, kAlone where more is right.
//
// Threading: as the Queue's. The registration lives as long as the object, which does not move.
#ifndef SOJOURN_QUEUE_HPP
#define SOJOURN_QUEUE_HPP

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <sojourn/queue.h>

namespace sojourn {

// A queue's registration: a base class or a member of whatever is a queue.
class QueueCounter {
 public:
  explicit QueueCounter(const sj_queue_spec& spec) : queue_(open_queue(spec)) {}
  ~QueueCounter() { SJ_QUEUE_END(queue_); }
  QueueCounter(const QueueCounter&) = delete;
  QueueCounter& operator=(const QueueCounter&) = delete;

  void count_in(std::uint64_t items = 1) { SJ_ENQUEUE_N(queue_, items); }
  void count_out(std::uint64_t items = 1) { SJ_DEQUEUE_N(queue_, items); }

  // Under the queue's lock, or by the only producer and the only consumer.
  void count_in_locked(std::uint64_t items = 1) { SJ_ENQUEUE_LOCKED_N(queue_, items); }
  void count_out_locked(std::uint64_t items = 1) { SJ_DEQUEUE_LOCKED_N(queue_, items); }

  // Fills in what was blank: see SJ_QUEUE_DESCRIBE.
  bool describe(const sj_queue_spec& spec) { return describe_queue(queue_, spec); }

  // The queue as SJ_ENQUEUE_ITEM and the other macros take it.
  sj_queue* queue() const { return queue_; }

 private:
  sj_queue* const queue_;
};

enum class Counting : std::uint8_t {
  kShared,  // several threads put in, or take out, at the same time
  kAlone,   // one at a time, by a lock or because there is only one
};

namespace queue_detail {

template <typename Queue, typename = void>
struct IsGuarded : std::false_type {};
template <typename Queue>
struct IsGuarded<Queue, std::void_t<decltype(std::declval<Queue&>().front())>> : std::true_type {};

template <typename Queue, typename = void>
struct IsStack : std::false_type {};
template <typename Queue>
struct IsStack<Queue, std::void_t<decltype(std::declval<Queue&>().top())>> : std::true_type {};

template <typename Queue>
inline constexpr Counting kCountingOf =
    IsGuarded<Queue>::value || IsStack<Queue>::value ? Counting::kAlone : Counting::kShared;

template <typename Queue>
struct FirstArgument {
  using Type = void;
};
template <template <typename...> class Template, typename First, typename... Rest>
struct FirstArgument<Template<First, Rest...>> {
  using Type = First;
};

// The type of item that a braced list makes.
template <typename Queue, typename = void>
struct ValueOf : FirstArgument<Queue> {};
template <typename Queue>
struct ValueOf<Queue, std::void_t<typename Queue::value_type>> {
  using Type = typename Queue::value_type;
};

template <typename T, typename = void>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<T, std::void_t<decltype(std::declval<const T&>().has_value())>> : std::true_type {
};

template <typename T, typename = void>
struct IsNullable : std::false_type {};
template <typename T>
struct IsNullable<T, std::void_t<decltype(std::declval<const T&>() == nullptr)>> : std::true_type {
};

// How many items went in, by the call's result: whether one did, or how many did.
template <typename Result>
std::uint64_t went_in(const Result& result) {
  static_assert(std::is_unsigned_v<Result>,
                "whether an item went in cannot be told from this result: use a QueueCounter");
  return static_cast<std::uint64_t>(result);
}

// How many items came out, by the call's result: whether one did, how many did, or the item itself.
// A number is a count only from a call with arguments: without any it is the item.
template <std::size_t Arguments, typename Result>
std::uint64_t came_out(const Result& result) {
  if constexpr (std::is_same_v<Result, bool>) {
    return result ? 1 : 0;
  } else if constexpr (std::is_unsigned_v<Result> && Arguments != 0) {
    return static_cast<std::uint64_t>(result);
  } else if constexpr (IsOptional<Result>::value) {
    return result.has_value() ? 1 : 0;
  } else if constexpr (IsNullable<Result>::value) {
    return result != nullptr ? 1 : 0;
  } else {
    return 1;
  }
}

template <typename... Arguments>
auto last(const Arguments&... arguments) {
  return std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
}

}  // namespace queue_detail

template <typename Queue, Counting counting = queue_detail::kCountingOf<Queue>>
class Counted : public Queue {
  using Value = typename queue_detail::ValueOf<Queue>::Type;

 public:
  // `arguments` are the Queue's own.
  template <typename... Arguments>
  explicit Counted(const sj_queue_spec& spec, Arguments&&... arguments)
      : Queue(std::forward<Arguments>(arguments)...), counter_(with_address(spec)) {
    if constexpr (counting == Counting::kAlone && HasSize<Queue>::value)
      count_in(static_cast<std::uint64_t>(Queue::size()));
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  QueueCounter& counter() { return counter_; }

// Base is the Queue, as a template argument, so that a member which it lacks is no error. First has
// a default for a braced list, which has no type of its own.
#define SJ_COUNTED_IN_(method)                                                                   \
  template <typename First = Value, typename... Rest, typename Base = Queue>                     \
  auto method(First&& first, Rest&&... rest) -> decltype(std::declval<Base&>().method(           \
      std::forward<First>(first), std::forward<Rest>(rest)...)) {                                \
    return counted(                                                                              \
        [&]() -> decltype(auto) {                                                                \
          return this->Base::method(std::forward<First>(first), std::forward<Rest>(rest)...);    \
        },                                                                                       \
        [this](const auto&... result) { count_in((1 * ... * queue_detail::went_in(result))); }); \
  }
// `count` says what the method did, from its `result` if it has one.
#define SJ_COUNTED_AS_(method, count)                                                    \
  template <typename... Arguments, typename Base = Queue>                                \
  auto method(Arguments&&... arguments)                                                  \
      -> decltype(std::declval<Base&>().method(std::forward<Arguments>(arguments)...)) { \
    return counted(                                                                      \
        [&]() -> decltype(auto) {                                                        \
          return this->Base::method(std::forward<Arguments>(arguments)...);              \
        },                                                                               \
        [this](const auto&... result) { count; });                                       \
  }
// Counts one item in: the result, if any, refers to it.
#define SJ_COUNTED_EMPLACE_(method) \
  SJ_COUNTED_AS_(method, count_in((1 * ... * queue_detail::came_out<0>(result))))
#define SJ_COUNTED_OUT_(method) \
  SJ_COUNTED_AS_(method,        \
                 count_out((1 * ... * queue_detail::came_out<sizeof...(Arguments)>(result))))
// The last argument is the number of items; the method takes all of them or none.
#define SJ_COUNTED_BULK_IN_(method)                                                      \
  template <typename... Arguments, typename Base = Queue>                                \
  auto method(Arguments&&... arguments)                                                  \
      -> decltype(std::declval<Base&>().method(std::forward<Arguments>(arguments)...)) { \
    const auto items = static_cast<std::uint64_t>(queue_detail::last(arguments...));     \
    const auto done = this->Base::method(std::forward<Arguments>(arguments)...);         \
    if (done) count_in(items);                                                           \
    return done;                                                                         \
  }
// Counts by how the method changes the container's size.
#define SJ_COUNTED_BY_SIZE_(method)                                                      \
  template <typename... Arguments, typename Base = Queue>                                \
  auto method(Arguments&&... arguments)                                                  \
      -> decltype(std::declval<Base&>().method(std::forward<Arguments>(arguments)...)) { \
    const SizeChange change(*this);                                                      \
    return this->Base::method(std::forward<Arguments>(arguments)...);                    \
  }

  SJ_COUNTED_IN_(push)
  SJ_COUNTED_IN_(push_back)
  SJ_COUNTED_IN_(push_front)
  SJ_COUNTED_IN_(try_push)
  SJ_COUNTED_IN_(bounded_push)
  SJ_COUNTED_IN_(unsynchronized_push)
  SJ_COUNTED_IN_(enqueue)
  SJ_COUNTED_IN_(try_enqueue)
  SJ_COUNTED_EMPLACE_(emplace)
  SJ_COUNTED_EMPLACE_(emplace_back)
  SJ_COUNTED_EMPLACE_(emplace_front)
  SJ_COUNTED_EMPLACE_(try_emplace)
  SJ_COUNTED_BULK_IN_(enqueue_bulk)
  SJ_COUNTED_BULK_IN_(try_enqueue_bulk)

  SJ_COUNTED_OUT_(pop)
  SJ_COUNTED_OUT_(pop_front)
  SJ_COUNTED_OUT_(pop_back)
  SJ_COUNTED_OUT_(try_pop)
  SJ_COUNTED_OUT_(unsynchronized_pop)
  SJ_COUNTED_OUT_(consume_one)
  SJ_COUNTED_OUT_(consume_all)
  SJ_COUNTED_OUT_(consume_all_atomic)
  SJ_COUNTED_OUT_(try_dequeue)
  SJ_COUNTED_OUT_(try_dequeue_from_producer)
  SJ_COUNTED_OUT_(try_dequeue_bulk)
  SJ_COUNTED_OUT_(try_dequeue_bulk_from_producer)
  SJ_COUNTED_OUT_(wait_dequeue)
  SJ_COUNTED_OUT_(wait_dequeue_timed)
  SJ_COUNTED_OUT_(wait_dequeue_bulk)
  SJ_COUNTED_OUT_(wait_dequeue_bulk_timed)

  SJ_COUNTED_BY_SIZE_(clear)
  SJ_COUNTED_BY_SIZE_(insert)
  SJ_COUNTED_BY_SIZE_(erase)
  SJ_COUNTED_BY_SIZE_(resize)
  SJ_COUNTED_BY_SIZE_(assign)
  SJ_COUNTED_BY_SIZE_(swap)
  SJ_COUNTED_BY_SIZE_(splice)
  SJ_COUNTED_BY_SIZE_(merge)
  SJ_COUNTED_BY_SIZE_(remove)
  SJ_COUNTED_BY_SIZE_(remove_if)
  SJ_COUNTED_BY_SIZE_(unique)

#undef SJ_COUNTED_IN_
#undef SJ_COUNTED_AS_
#undef SJ_COUNTED_EMPLACE_
#undef SJ_COUNTED_OUT_
#undef SJ_COUNTED_BULK_IN_
#undef SJ_COUNTED_BY_SIZE_

 private:
  template <typename Container, typename = void>
  struct HasSize : std::false_type {};
  template <typename Container>
  struct HasSize<Container, std::void_t<decltype(std::declval<const Container&>().size())>>
      : std::true_type {};

  // Counts by the change of the size of a container that no other thread touches meanwhile.
  class SizeChange {
   public:
    explicit SizeChange(Counted& queue) : queue_(queue), before_(queue.size()) {}
    ~SizeChange() {
      const std::size_t after = queue_.size();
      if (after > before_) queue_.count_in(after - before_);
      if (after < before_) queue_.count_out(before_ - after);
    }
    SizeChange(const SizeChange&) = delete;
    SizeChange& operator=(const SizeChange&) = delete;

   private:
    Counted& queue_;
    const std::size_t before_;
  };

  sj_queue_spec with_address(sj_queue_spec spec) const {
    if (spec.address == nullptr) spec.address = this;
    return spec;
  }

  void count_in(std::uint64_t items) {
    if (items == 0) return;
    if constexpr (counting == Counting::kAlone)
      counter_.count_in_locked(items);
    else
      counter_.count_in(items);
  }
  void count_out(std::uint64_t items) {
    if (items == 0) return;
    if constexpr (counting == Counting::kAlone)
      counter_.count_out_locked(items);
    else
      counter_.count_out(items);
  }

  // Runs the operation, then counts by its result; a reference or void does not say how many.
  template <typename Operation, typename Count>
  static decltype(auto) counted(Operation operation, Count count) {
    using Result = decltype(operation());
    if constexpr (std::is_void_v<Result>) {
      operation();
      count();
    } else if constexpr (std::is_reference_v<Result>) {
      Result result = operation();
      count();
      return static_cast<Result>(result);
    } else {
      Result result = operation();
      count(result);
      return result;
    }
  }

  QueueCounter counter_;
};

}  // namespace sojourn

#endif
