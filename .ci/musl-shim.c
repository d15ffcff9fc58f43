/* What Debian's libstdc++ and libgcc take from glibc, and musl does not have. Enough to run a program in a test. */
char __libc_single_threaded = 0;
unsigned __cpu_model[4];
int __cpu_indicator_init(void) { return 0; }
unsigned arc4random(void) { return 4; }
int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library) { return 0; }
int _dl_find_object(void *address, void *result) { return -1; }
unsigned long strftime_l(char *, unsigned long, const char *, const void *, void *);
unsigned long __strftime_l(char *to, unsigned long size, const char *format, const void *time, void *locale) {
  return strftime_l(to, size, format, time, locale);
}
