/*
 * raw-appends LINES TARGET: appends each line of LINES to TARGET with one write and one fdatasync, and prints how many
 * microseconds that took in all. The least that a durable log can cost.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int source = open(argv[1], O_RDONLY | O_CLOEXEC);
  struct stat stat;
  if (source < 0 || fstat(source, &stat) != 0) fail(argv[1]);
  char *lines = malloc(stat.st_size);
  if (lines == NULL || read(source, lines, stat.st_size) != stat.st_size) fail(argv[1]);
  int target = open(argv[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (target < 0) fail(argv[2]);

  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (char *line = lines; line < lines + stat.st_size;) {
    char *newline = memchr(line, '\n', lines + stat.st_size - line);
    if (newline == NULL) fail("a line without its end");
    size_t length = newline + 1 - line;
    if (write(target, line, length) != (ssize_t)length) fail("write");
    if (fdatasync(target) != 0) fail("fdatasync");
    line += length;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%.1f\n", (end.tv_sec - start.tv_sec) * 1e6 + (end.tv_nsec - start.tv_nsec) / 1e3);
  return 0;
}
