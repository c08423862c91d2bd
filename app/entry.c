/* Where the program begins. Apart, so that a test can be linked with all the rest. */
#include "command.h"

int main(int argc, char **argv)
{
    return run_program(argc, argv);
}
