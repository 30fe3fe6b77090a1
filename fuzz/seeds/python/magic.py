%time x
!ls
x?
