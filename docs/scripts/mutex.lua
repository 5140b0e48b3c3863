-- Activities: how long threads waited for a mutex, and how long they held it. A program says so by
-- three points, in C before pthread_mutex_lock(&m), behind it, and before pthread_mutex_unlock(&m):
--   SJ_POINT("I mutex.wait", "::mutex", (uintptr_t)&m);
--   SJ_POINT("I mutex.lock", "::mutex", (uintptr_t)&m);
--   SJ_POINT("I mutex.unlock", "::mutex", (uintptr_t)&m);
local waited = activity("mutex.waited", { "mutex" })
local held = activity("mutex.held", { "mutex", "waiters" }) -- waiters: threads that waited at its end

local wait_since = {} -- by thread
local lock_since = {} -- by mutex
local waiters = {} -- by mutex

on("I mutex.wait", function(e)
  wait_since[e.tid] = e.t_ns
  waiters[e.mutex] = (waiters[e.mutex] or 0) + 1
end)

on("I mutex.lock", function(e)
  local since = wait_since[e.tid]
  if since then -- else it began to wait before the capture
    waited(since, e.mutex)
    wait_since[e.tid] = nil
    waiters[e.mutex] = waiters[e.mutex] - 1
  end
  lock_since[e.mutex] = e.t_ns
end)

on("I mutex.unlock", function(e)
  local since = lock_since[e.mutex]
  if not since then return end -- it was locked before the capture began
  held(since, e.mutex, waiters[e.mutex] or 0)
  lock_since[e.mutex] = nil
end)
