-- Made up from beginning to end: nobody in here exists.
--
-- PostgreSQL database dump
--

\restrict UmFuZG9tTGV0dGVyc1RoYXRNZWFuTm90aGluZw

-- Dumped from database version 15.8
-- Dumped by pg_dump version 17.6

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Data for Name: audit_log_entries; Type: TABLE DATA; Schema: auth; Owner: -
--

COPY auth.audit_log_entries (instance_id, id, payload, created_at, ip_address) FROM stdin;
00000000-0000-0000-0000-000000000000	00000001-9999-4999-8999-999999999999	{"action": "login", "actor_id": "00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "actor_username": "ada@example.com", "actor_via_sso": false, "log_type": "account", "traits": {"provider": "email"}}	2026-02-03 10:20:30.456789+00	
\N	00000002-9999-4999-8999-999999999999	\N	\N	
\.


--
-- Data for Name: users; Type: TABLE DATA; Schema: auth; Owner: -
--

COPY auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, invited_at, confirmation_token, confirmation_sent_at, recovery_token, recovery_sent_at, email_change_token_new, email_change, email_change_sent_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data, is_super_admin, created_at, updated_at, phone, phone_confirmed_at, phone_change, phone_change_token, phone_change_sent_at, email_change_token_current, email_change_confirm_status, banned_until, reauthentication_token, reauthentication_sent_at, is_sso_user, deleted_at, is_anonymous) FROM stdin;
00000000-0000-0000-0000-000000000000	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	ada@example.com	$2b$10$ZSQcdxGNFTYXafQfPPm5IO3P32AGdxlczz9Dy/rBlk6bV0mLkJrJ2	2026-02-03 10:20:30.456789+00	\N		\N	5f1d5f1d5f1d5f1d5f1d5f1d5f1d5f1d5f1d5f1d5f1d5f1d5f1d5f1d	2026-02-03 10:20:30.456789+00			\N	2026-02-03 10:20:30.456789+00	{"provider": "email", "providers": ["email"]}	{"full_name": "Ada Made-Up", "email_verified": true}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	00000002-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	\N	$2b$10$rqbsjBBKthzQtO6x.0yoUeQUnQZeH7SCaL6RvNIvKSmTL.RJreHey	\N	\N		\N		\N			\N	\N	{"provider": "phone", "providers": ["phone"]}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	491700000002	2026-02-03 10:20:30.456789+00	491700000022	0c2a0c2a0c2a0c2a0c2a0c2a0c2a0c2a0c2a0c2a0c2a0c2a0c2a0c2a	2026-02-03 10:20:30.456789+00		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	00000003-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	\N		\N	\N		\N		\N			\N	\N	{}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	f	\N	t
00000000-0000-0000-0000-000000000000	00000004-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855		2026-02-03 10:20:30.456789+00	\N		\N		\N			\N	\N	{}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	f	2026-02-03 10:20:30.456789+00	f
00000000-0000-0000-0000-000000000000	00000005-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	eve@example.com	$2b$10$ZSQcdxGNFTYXafQfPPm5IO3P32AGdxlczz9Dy/rBlk6bV0mLkJrJ2	2026-02-03 10:20:30.456789+00	\N		\N		\N			\N	\N	{"provider": "email", "providers": ["email"]}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	2999-01-01 00:00:00+00		\N	f	\N	f
00000000-0000-0000-0000-000000000000	00000006-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	fay@example.com		\N	2026-02-03 10:20:30.456789+00	9b7e9b7e9b7e9b7e9b7e9b7e9b7e9b7e9b7e9b7e9b7e9b7e9b7e9b7e	2026-02-03 10:20:30.456789+00		\N			\N	\N	{"provider": "email", "providers": ["email"]}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	f	\N	f
\N	00000007-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	gil@example.com	$2b$10$ZSQcdxGNFTYXafQfPPm5IO3P32AGdxlczz9Dy/rBlk6bV0mLkJrJ2	2026-02-03 10:20:30.456789+00	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	f	\N	f
00000000-0000-0000-0000-000000000000	00000008-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	ada@example.com	\N	2026-02-03 10:20:30.456789+00	\N		\N		\N			\N	\N	{"provider": "sso:00000008-cccc-4ccc-8ccc-cccccccccccc", "providers": ["sso:00000008-cccc-4ccc-8ccc-cccccccccccc"]}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	t	\N	f
00000000-0000-0000-0000-000000000000	00000009-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	hal@example.com	$2b$10$ZSQcdxGNFTYXafQfPPm5IO3P32AGdxlczz9Dy/rBlk6bV0mLkJrJ2	2026-02-03 10:20:30.456789+00	\N		\N		\N			\N	\N	{"provider": "email", "providers": ["email"]}	{"about": "Zeile 1\\nline two\\ttabbed, a \\\\ backslash and a \\"quote\\"", "motto": "Grüße 👋", "history": ["walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down", "walked the dog and wrote it down"]}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	00000010-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	Ivy@Example.COM	$2b$10$ZSQcdxGNFTYXafQfPPm5IO3P32AGdxlczz9Dy/rBlk6bV0mLkJrJ2	2026-02-03 10:20:30.456789+00	\N		\N		\N			\N	\N	{"provider": "email", "providers": ["email"]}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	00000011-aaaa-4aaa-8aaa-aaaaaaaaaaaa	authenticated	authenticated	jon@example.com	{"key_id":"2026","alg":"aes-gcm-hkdf","data":"bWFkZSB1cA","nonce":"bWFkZSB1cA"}	2026-02-03 10:20:30.456789+00	\N		\N		\N			\N	\N	{"provider": "email", "providers": ["email"]}	{}	\N	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N			\N		0	\N		\N	f	\N	f
\.


--
-- Data for Name: identities; Type: TABLE DATA; Schema: auth; Owner: -
--

COPY auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at, id) FROM stdin;
00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "email": "ada@example.com", "email_verified": true}	email	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000001-dddd-4ddd-8ddd-dddddddddddd
00000005-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000005-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000005-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "email": "eve@example.com", "email_verified": true}	email	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000005-dddd-4ddd-8ddd-dddddddddddd
00000006-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000006-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000006-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "email": "fay@example.com", "email_verified": true}	email	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000006-dddd-4ddd-8ddd-dddddddddddd
00000009-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000009-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000009-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "email": "hal@example.com", "email_verified": true}	email	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000009-dddd-4ddd-8ddd-dddddddddddd
00000010-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000010-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000010-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "email": "Ivy@Example.COM", "email_verified": true}	email	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000010-dddd-4ddd-8ddd-dddddddddddd
00000011-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000011-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000011-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "email": "jon@example.com", "email_verified": true}	email	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000011-dddd-4ddd-8ddd-dddddddddddd
00000002-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000002-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000002-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "phone": "491700000002"}	phone	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000002-dddd-4ddd-8ddd-dddddddddddd
00000007-aaaa-4aaa-8aaa-aaaaaaaaaaaa	00000007-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "00000007-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "email": "gil@example.com"}	email	\N	\N	\N	00000007-dddd-4ddd-8ddd-dddddddddddd
ada@example.com	00000008-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "ada@example.com", "email": "ada@example.com"}	sso:00000008-cccc-4ccc-8ccc-cccccccccccc	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000008-dddd-4ddd-8ddd-dddddddddddd
424242	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	{"sub": "424242", "email": "ada@example.com", "user_name": "ada"}	github	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	00000012-dddd-4ddd-8ddd-dddddddddddd
\.


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: auth; Owner: -
--

COPY auth.sessions (id, user_id, created_at, updated_at, factor_id, aal, not_after, refreshed_at, user_agent, ip, tag, oauth_client_id, refresh_token_hmac_key, refresh_token_counter, scopes) FROM stdin;
00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	aal1	\N	2026-02-03 11:20:30.1	Mozilla/5.0 (made up)	203.0.113.7	\N	\N	\N	\N	\N
00000002-bbbb-4bbb-8bbb-bbbbbbbbbbbb	00000002-aaaa-4aaa-8aaa-aaaaaaaaaaaa	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	aal1	\N	\N	Mozilla/5.0 (made up)	203.0.113.7	\N	\N	\N	\N	\N
00000003-bbbb-4bbb-8bbb-bbbbbbbbbbbb	00000003-aaaa-4aaa-8aaa-aaaaaaaaaaaa	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	aal1	\N	\N	Mozilla/5.0 (made up)	2001:db8::7	\N	\N	\N	\N	\N
00000004-bbbb-4bbb-8bbb-bbbbbbbbbbbb	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	aal1	\N	\N	Mozilla/5.0 (made up)	203.0.113.7	\N	00000001-eeee-4eee-8eee-eeeeeeeeeeee	\N	\N	email profile
00000005-bbbb-4bbb-8bbb-bbbbbbbbbbbb	00000009-aaaa-4aaa-8aaa-aaaaaaaaaaaa	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	aal1	\N	\N	Mozilla/5.0 (made up)	203.0.113.7	\N	\N	bm90IGEga2V5LCBqdXN0IG1hZGUgdXAgZm9yIHRlc3Rz	4	\N
00000006-bbbb-4bbb-8bbb-bbbbbbbbbbbb	00000005-aaaa-4aaa-8aaa-aaaaaaaaaaaa	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	aal1	\N	\N	Mozilla/5.0 (made up)	203.0.113.7	\N	\N	\N	\N	\N
00000007-bbbb-4bbb-8bbb-bbbbbbbbbbbb	00000010-aaaa-4aaa-8aaa-aaaaaaaaaaaa	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	aal1	\N	\N	Mozilla/5.0 (made up)	203.0.113.7	\N	\N	\N	\N	\N
\.


--
-- Data for Name: mfa_amr_claims; Type: TABLE DATA; Schema: auth; Owner: -
--

COPY auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method, id) FROM stdin;
00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	password	00000001-ffff-4fff-8fff-ffffffffffff
00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	totp	00000002-ffff-4fff-8fff-ffffffffffff
00000002-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	otp	00000003-ffff-4fff-8fff-ffffffffffff
00000003-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	anonymous	00000004-ffff-4fff-8fff-ffffffffffff
00000004-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	password	00000005-ffff-4fff-8fff-ffffffffffff
00000005-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	password	00000006-ffff-4fff-8fff-ffffffffffff
00000006-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	password	00000007-ffff-4fff-8fff-ffffffffffff
00000007-bbbb-4bbb-8bbb-bbbbbbbbbbbb	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	magiclink	00000008-ffff-4fff-8fff-ffffffffffff
\.


--
-- Data for Name: refresh_tokens; Type: TABLE DATA; Schema: auth; Owner: -
--

COPY auth.refresh_tokens (instance_id, id, token, user_id, revoked, created_at, updated_at, parent, session_id) FROM stdin;
00000000-0000-0000-0000-000000000000	11	ada4first2aa	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	t	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	12	ada4second2a	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	t	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	ada4first2aa	00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	13	ada4third2aa	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	f	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	ada4second2a	00000001-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	14	Bo-OldLong_token012345	00000002-aaaa-4aaa-8aaa-aaaaaaaaaaaa	f	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	00000002-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	15	anon2y4tz6aa	00000003-aaaa-4aaa-8aaa-aaaaaaaaaaaa	f	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	00000003-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	16	lent2tooauth	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	f	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	00000004-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	17	eve2banned44	00000005-aaaa-4aaa-8aaa-aaaaaaaaaaaa	f	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	00000006-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	18	nosession222	00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa	f	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	\N
00000000-0000-0000-0000-000000000000	19	ivy2first222	00000010-aaaa-4aaa-8aaa-aaaaaaaaaaaa	t	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	\N	00000007-bbbb-4bbb-8bbb-bbbbbbbbbbbb
00000000-0000-0000-0000-000000000000	20	ivy2second22	00000010-aaaa-4aaa-8aaa-aaaaaaaaaaaa	f	2026-02-03 10:20:30.456789+00	2026-02-03 10:20:30.456789+00	ivy2first222	00000007-bbbb-4bbb-8bbb-bbbbbbbbbbbb
\.


--
-- Name: refresh_tokens_id_seq; Type: SEQUENCE SET; Schema: auth; Owner: -
--

SELECT pg_catalog.setval('auth.refresh_tokens_id_seq', 20, true);


--
-- PostgreSQL database dump complete
--

\unrestrict UmFuZG9tTGV0dGVyc1RoYXRNZWFuTm90aGluZw
