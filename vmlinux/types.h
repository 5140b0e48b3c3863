/* Kernel types that the BPF programs use and that are the same on every architecture. See
 * README.md. */
#ifndef SJ_VMLINUX_TYPES_H
#define SJ_VMLINUX_TYPES_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef signed short __s16;
typedef unsigned int __u32;
typedef signed int __s32;
typedef unsigned long long __u64;
typedef signed long long __s64;

typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

typedef _Bool bool;

enum bpf_map_type {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
  BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
  BPF_ANY = 0,
  BPF_NOEXIST = 1,
};

enum {
  BPF_F_MMAPABLE = 1024,
};

#endif
