/** Hashes that others made, for tests: what they are of, and by whom. */
export const vectors: readonly { password: string; hash: string; by: string }[] = [
  {
    by: 'the test suite of the argon2 reference implementation',
    password: 'password',
    hash: '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  },
  {
    by: 'the same, with two lanes',
    password: 'password',
    hash: '$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc',
  },
  {
    by: 'the same, argon2i',
    password: 'password',
    hash: '$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA',
  },
  {
    by: "libxcrypt, with the oldest of bcrypt's letters",
    password: 'correct horse',
    hash: '$2a$05$CCCCCCCCCCCCCCCCCCCCC.WrAwgFxicHZ3kL7zMvXYXHKosDn8ot2',
  },
  { by: 'libxcrypt', password: 'correct horse', hash: '$2b$06$abcdefghijklmnopqrstuud/5IuQmqhVO0kfNEbHJM.fJkPiliBzC' },
  {
    by: 'libxcrypt, beyond ASCII',
    password: 'pässwörd',
    hash: '$2y$05$XajjQvNhvvRt5GSeFk1xFeRkR3dmjb4AHDiAha294WNfd1xhpJiZ2',
  },
  {
    by: 'libxcrypt, as long as bcrypt reads',
    password: 'x'.repeat(72),
    hash: '$2b$04$XajjQvNhvvRt5GSeFk1xFee4hU08UPEhSBtx4WyijWjzm9SY8.FjK',
  },
  { by: 'libxcrypt, of nothing', password: '', hash: '$2b$04$XajjQvNhvvRt5GSeFk1xFeTtPpF3Ti5fvHmqa4Lx267vxp.wBnNf2' },
  {
    by: 'the README of firebase/scrypt',
    password: 'user1password',
    hash: [
      '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==',
      ',sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==',
      '$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
    ].join(''),
  },
  {
    by: 'RFC 7914, section 11',
    password: 'Password',
    hash: '$pbkdf2-sha256$i=80000,l=64$TmFDbA$TdzY9guYviGDDO5e8icB+WQaRBjQTAQUrv8Ih2s0q1ah1CWhIlgzVJrbhBtRybMXaicr3ruh0HhHj2Kzl/M8jQ',
  },
  {
    by: "Python's hashlib",
    password: 'pässwörd',
    hash: '$pbkdf2-sha512$i=2000,l=64$c2FsdHNhbHRzYWx0c2FsdA$x5LmWlRefy6Y4HPZdYnjkKg7jdpF3UoUp4r0FdfyVVnBt5WU97vrEvZjRRSAOcSIcfCX4hcS1zPA/uh+sJnD5w',
  },
  {
    by: "Python's hashlib, cut short",
    password: 'correct horse',
    hash: '$pbkdf2-sha512$i=1000,l=20$8PHy8/T19vf4+fr7/P3+/w$xqu1f3FSdHbs02z9AocIk0UpBf4',
  },
]
