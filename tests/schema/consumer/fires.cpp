#include "fires.c"
